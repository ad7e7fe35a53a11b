import { afterAll, beforeAll, expect, test } from '@jest/globals';
import PostalMime from 'postal-mime';
import { act, givenTenant } from '../attacks/tenant.ts';
import { createCall } from '../stack/client.ts';
import { good } from '../stack/given.ts';
import { until } from '../stack/until.ts';
import { type Installation, startInstallation } from './installation.ts';

/** deploy/compose.yaml as far as it can be run without containers: commands, variables, secrets and order. */

let installation: Installation;
beforeAll(async () => {
  installation = await startInstallation();
}, 240_000);
afterAll(() => installation?.stop(), 120_000);

test('every process of the file is ready', async () => {
  const names = Object.keys(installation.healthUrls);
  expect(names.toSorted()).toEqual([
    ...['broadcasts', 'broadcasts-worker', 'contacts', 'contacts-worker', 'gateway', 'messages'],
    ...['templates', 'webhooks', 'webhooks-worker', 'workspaces'],
  ]);
  for (const name of names) {
    await until(`${name} is ready`, async () => {
      const { status } = await fetch(installation.healthUrls[name] ?? '');
      return status === 200;
    });
  }
});

test('its owner signs in by a code from the mail server of the file, and sends a broadcast', async () => {
  const { baseUrl, sink } = installation;
  const tenant = await givenTenant(baseUrl, { owner: await signIn(), smtpPort: sink.port });
  await act(tenant, 'lists.create', { id: 'readers', name: 'Readers' });
  const contact = { email: 'ada@example.com' };
  await act(tenant, 'lists.subscribe', { list_ids: ['readers'], contact });
  const email = { editor_mode: 'code', subject: 'Hello', mjml_source: mjml };
  const template = { id: 'letter', name: 'Letter', channel: 'email', category: 'marketing', email };
  await act(tenant, 'templates.create', template);
  const { broadcast } = (await act(tenant, 'broadcasts.create', {
    name: 'First letter',
    audience: { list: 'readers' },
    test_settings: { variations: [{ template_id: 'letter', variation_name: 'A' }] },
  })) as { broadcast: { id: string } };
  await act(tenant, 'broadcasts.schedule', { id: broadcast.id, send_now: true });
  await until('the letter is there', async () => sink.bodies('ada@example.com').length === 1);
}, 60_000);

const mjml = `<mjml><mj-body><mj-section><mj-column>
<mj-text>Welcome. <a href="{{ unsubscribe_url }}">Unsubscribe</a></mj-text>
</mj-column></mj-section></mj-body></mjml>`;

async function signIn(): Promise<string> {
  const { baseUrl, rootEmail: email, sink } = installation;
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
