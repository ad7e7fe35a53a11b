// Type-checked against the generated client, and run, by main.ts.
import { client } from './client/client.gen.ts';
import * as api from './client/index.ts';

const { BASE_URL: baseUrl, TOKEN, WORKSPACE_ID: workspace_id = '' } = process.env;
client.setConfig({ baseUrl: baseUrl ?? '', auth: TOKEN ?? '', throwOnError: true });
const mjml_source = '<mjml><mj-body></mj-body></mjml>';

await api.listsCreate({ body: { workspace_id, id: 'readers', name: 'Readers' } });
await api.listsSubscribe({
  body: { workspace_id, list_ids: ['readers'], contact: { email: 'ada@example.com' } },
});
await api.templatesCreate({
  body: {
    workspace_id,
    id: 'letter',
    name: 'Letter',
    channel: 'email',
    category: 'marketing',
    email: { editor_mode: 'code', subject: 'Hello', mjml_source },
  },
});
const { data } = await api.broadcastsCreate<true>({
  body: {
    workspace_id,
    name: 'First letter',
    audience: { list: 'readers' },
    test_settings: { variations: [{ template_id: 'letter', variation_name: 'A' }] },
  },
});
const status: 'draft' | string = data.broadcast.status;
if (status !== 'draft') throw new Error(`a new broadcast is ${status}`);
await api.broadcastsSchedule({ body: { workspace_id, id: data.broadcast.id, send_now: true } });
