import { beforeAll, expect, test } from '@jest/globals';
import { unique } from '../stack/given.ts';
import { ownerToken } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';
import { shapeOf } from './shape.ts';

/** The answers about domains as JSON; nothing is known of the names in DNS. */

let token: string;
const stack = borrowedStack();
beforeAll(async () => {
  token = await ownerToken(stack.settings);
}, 60_000);

const post = (operation: string, body: object) => stack.call(operation, body, { token });
const get = (operation: string, query: Record<string, string>) =>
  stack.call(operation, undefined, { query, token });

const record = {
  ...{ purpose: 'string', type: 'string', host: 'string', value: 'string', state: 'string' },
  ...{ known_state: 'string', found: [], explanation: 'string', required: 'boolean' },
};
const domain = {
  ...{ name: 'string', state: 'string', dkim_algorithms: ['string'] },
  ...{ return_path_host: 'string', tracking_host: 'string', records: [record], zone: 'string' },
  keys: [{ selector: 'string', algorithm: 'string', state: 'string', since: 'time' }],
  ...{ checked_at: 'null', next_check_at: 'time', failing_since: 'null' },
  ...{ created_at: 'time', updated_at: 'time' },
};

test('domains.create, get, list, update, rotateKey, verify and delete answer as documented', async () => {
  const key = { workspace_id: stack.workspaceId, name: `${unique('d')}.example.com` };
  const created = await post('domains.create', { ...key, dkim_algorithms: ['ed25519'] });
  expect([created.status, shapeOf(created.body)]).toEqual([201, { domain, setup_url: 'string' }]);
  expect(created.body.domain).toMatchObject({ state: 'pending', keys: [{ state: 'waiting' }] });
  expect(created.body.domain.records[0]).toMatchObject({ purpose: 'ownership', required: true });
  const updated = await post('domains.update', { ...key, dkim_algorithms: ['ed25519'] });
  expect(Object.keys(updated.body)).toEqual(['domain']);
  const verified = await post('domains.verify', key);
  expect([verified.status, shapeOf(verified.body.domain.checked_at)]).toEqual([200, 'time']);
  const listed = await get('domains.list', { workspace_id: stack.workspaceId });
  expect([listed.status, shapeOf(listed.body)]).toMatchObject([
    200,
    { domains: [{ name: 'string' }] },
  ]);
  const rotated = await post('domains.rotateKey', key);
  expect([rotated.status, rotated.body.reason]).toEqual([400, 'DOMAIN_KEY_STATE']);
  const page = await fetch((await get('domains.get', key)).body.setup_url);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining(key.name)]);
  const deleted = await post('domains.delete', key);
  expect([deleted.status, deleted.body]).toEqual([200, { status: 'success' }]);
  expect((await get('domains.get', key)).status).toBe(404);
});

test('a job checks a new domain by itself', async () => {
  const key = { workspace_id: stack.workspaceId, name: `${unique('d')}.example.com` };
  await post('domains.create', key);
  await until('the domain is checked', async () => {
    return (await get('domains.get', key)).body.domain.checked_at !== null;
  });
  await post('domains.delete', key);
});

test('domains.testMail says that the installation takes no mail back, and testResult knows no test', async () => {
  const key = { workspace_id: stack.workspaceId };
  const { body } = await get('workspaces.get', { id: stack.workspaceId });
  const [{ email_provider: provider }] = body.workspace.integrations;
  const name = provider.senders[0].email.split('@')[1];
  const sent = await post('domains.testMail', { ...key, name });
  expect([sent.status, sent.body.reason]).toEqual([400, 'RETURNED_MAIL_OFF']);
  const found = await get('domains.testResult', { ...key, id: crypto.randomUUID() });
  expect([found.status, found.body.reason]).toEqual([404, 'DOMAIN_TEST_NOT_FOUND']);
});
