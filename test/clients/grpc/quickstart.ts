import { resolve } from 'node:path';
import * as grpc from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

const { GRPC_ADDR = '', TOKEN, WORKSPACE_ID: workspace_id } = process.env;
const includeDirs = [resolve(import.meta.dirname, '../../../proto')];
const metadata = new grpc.Metadata();
metadata.set('authorization', `Bearer ${TOKEN}`);

type Call = (
  request: object,
  metadata: grpc.Metadata,
  done: (error: grpc.ServiceError | null, answer: { broadcast: { id: string } }) => void,
) => void;

async function call(file: string, service: string, method: string, request: object) {
  const definition = loadSync(`postrider/${file}.proto`, { includeDirs, keepCase: true });
  const name = `postrider.${file.split('/').slice(0, 2).join('.')}.${service}`;
  const Client = grpc.makeClientConstructor(definition[name] as grpc.ServiceDefinition, service);
  const client = new Client(GRPC_ADDR, grpc.credentials.createInsecure());
  const { promise, resolve: done, reject } = Promise.withResolvers<{ broadcast: { id: string } }>();
  (client[method] as Call)({ workspace_id, ...request }, metadata, (error, answer) =>
    error ? reject(error) : done(answer),
  );
  return promise.finally(() => client.close());
}

await call('contacts/v1/lists', 'ListService', 'CreateList', { id: 'readers', name: 'Readers' });
await call('contacts/v1/lists', 'ListService', 'SubscribeContact', {
  list_ids: ['readers'],
  contact: { email: 'ada@example.com' },
});
await call('templates/v1/templates', 'TemplateService', 'CreateTemplate', {
  id: 'letter',
  name: 'Letter',
  channel: 'TEMPLATE_CHANNEL_EMAIL',
  category: 'TEMPLATE_CATEGORY_MARKETING',
  email: {
    editor_mode: 'code',
    subject: 'Hello',
    mjml_source: '<mjml><mj-body></mj-body></mjml>',
  },
});
const { broadcast } = await call(
  'broadcasts/v1/broadcasts',
  'BroadcastService',
  'CreateBroadcast',
  {
    name: 'First letter',
    audience: { list: 'readers' },
    test_settings: { variations: [{ template_id: 'letter', variation_name: 'A' }] },
  },
);
await call('broadcasts/v1/broadcasts', 'BroadcastService', 'ScheduleBroadcast', {
  id: broadcast.id,
  send_now: true,
});
