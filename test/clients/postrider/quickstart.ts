// Type-checked against the packed client, and run, by ../main.ts.
import { Postrider } from 'postrider';

const { BASE_URL: baseUrl = '', TOKEN: token = '', WORKSPACE_ID: workspaceId = '' } = process.env;
const postrider = new Postrider({ baseUrl, token, workspaceId });

await postrider.lists.create({ id: 'readers', name: 'Readers' });
await postrider.lists.subscribe({ list_ids: ['readers'], contact: { email: 'ada@example.com' } });
await postrider.templates.create({
  id: 'letter',
  name: 'Letter',
  channel: 'email',
  category: 'marketing',
  email: {
    editor_mode: 'code',
    subject: 'Hello',
    mjml_source: '<mjml><mj-body></mj-body></mjml>',
  },
});
const { broadcast } = await postrider.broadcasts.create({
  name: 'First letter',
  audience: { list: 'readers' },
  test_settings: { variations: [{ template_id: 'letter', variation_name: 'A' }] },
});
await postrider.broadcasts.schedule({ id: broadcast.id, send_now: true });
