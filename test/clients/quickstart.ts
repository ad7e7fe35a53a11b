// Type-checked against the generated schema.d.ts, and run, by main.ts.
import createClient from 'openapi-fetch';
import type { paths } from './schema.d.ts';

const { BASE_URL: baseUrl, TOKEN, WORKSPACE_ID: workspace_id = '' } = process.env;
const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${TOKEN}` } });
const mjml_source = '<mjml><mj-body></mj-body></mjml>';

function good<T>({ data, error }: { data?: T; error?: { error: string } }): T {
  if (data === undefined) throw new Error(error?.error);
  return data;
}

good(
  await client.POST('/api/lists.create', {
    body: { workspace_id, id: 'readers', name: 'Readers' },
  }),
);
good(
  await client.POST('/api/lists.subscribe', {
    body: { workspace_id, list_ids: ['readers'], contact: { email: 'ada@example.com' } },
  }),
);
good(
  await client.POST('/api/templates.create', {
    body: {
      workspace_id,
      id: 'letter',
      name: 'Letter',
      channel: 'email',
      category: 'marketing',
      email: { editor_mode: 'code', subject: 'Hello', mjml_source },
    },
  }),
);
const { broadcast } = good(
  await client.POST('/api/broadcasts.create', {
    body: {
      workspace_id,
      name: 'First letter',
      audience: { list: 'readers' },
      test_settings: { variations: [{ template_id: 'letter', variation_name: 'A' }] },
    },
  }),
);
const status: 'draft' | string = broadcast.status;
if (status !== 'draft') throw new Error(`a new broadcast is ${status}`);
good(
  await client.POST('/api/broadcasts.schedule', {
    body: { workspace_id, id: broadcast.id, send_now: true },
  }),
);
