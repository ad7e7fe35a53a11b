import PostalMime from 'postal-mime';
import { act, givenTenant } from '../attacks/tenant.ts';
import { createCall } from '../stack/client.ts';
import { good } from '../stack/given.ts';
import { until } from '../stack/until.ts';
import type { Installation } from './installation.ts';

const reader = 'ada@example.com';
const mjml = `<mjml><mj-body><mj-section><mj-column>
<mj-text>Welcome. <a href="{{ unsubscribe_url }}">Unsubscribe</a></mj-text>
</mj-column></mj-section></mj-body></mjml>`;

/**
 * All processes are ready, and the owner signs in by a code, as people do, and sends a broadcast
 * that arrives.
 */
export async function sendFirstBroadcast(installation: Installation): Promise<void> {
  const { baseUrl, sink, healthUrls } = installation;
  for (const [name, url] of Object.entries(healthUrls)) {
    await until(`${name} is ready`, async () => (await fetch(url)).status === 200);
  }
  const owner = await signIn(installation);
  const tenant = await givenTenant(baseUrl, { owner, smtpPort: sink.port });
  await act(tenant, 'lists.create', { id: 'readers', name: 'Readers' });
  await act(tenant, 'lists.subscribe', { list_ids: ['readers'], contact: { email: reader } });
  const email = { editor_mode: 'code', subject: 'Hello', mjml_source: mjml };
  const template = { id: 'letter', name: 'Letter', channel: 'email', category: 'marketing', email };
  await act(tenant, 'templates.create', template);
  const { broadcast } = (await act(tenant, 'broadcasts.create', {
    name: 'First letter',
    audience: { list: 'readers' },
    test_settings: { variations: [{ template_id: 'letter', variation_name: 'A' }] },
  })) as { broadcast: { id: string } };
  await act(tenant, 'broadcasts.schedule', { id: broadcast.id, send_now: true });
  await until('the letter is there', async () => sink.bodies(reader).length === 1);
}

async function signIn({ baseUrl, rootEmail: email, sink }: Installation): Promise<string> {
  const call = createCall(baseUrl, '');
  good(await call('user.signIn', { email }));
  let code = '';
  await until('the code is there', async () => {
    const { text = '' } = await PostalMime.parse(sink.bodies(email).at(-1) ?? '');
    code = /\b\d{6}\b/.exec(text)?.[0] ?? '';
    return code !== '';
  });
  return good(await call('user.verifyCode', { email, code })).token;
}
