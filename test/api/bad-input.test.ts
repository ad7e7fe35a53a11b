import { beforeAll, expect, test } from '@jest/globals';
import { good } from '../stack/given.ts';
import { ownerToken } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';

let token: string;
const stack = borrowedStack();
beforeAll(async () => {
  token = await ownerToken(stack.settings);
}, 60_000);

type Bad = [operation: string, given: Record<string, unknown>, field: string];

const long = 'x'.repeat(300);
const provider = {
  kind: 'smtp',
  smtp: { host: '127.0.0.1', port: 25 },
  senders: [{ email: 'a@example.com', name: 'A', is_default: true }],
  rate_limit_per_minute: 60,
};
const variations = [{ template_id: 't', variation_name: 'A' }];

/** Without the workspace id, which is added to all calls but those of `workspaces` and `user`. */
const writes: Bad[] = [
  ['user.rootSignin', { email: 'a@example.com', timestamp: 1 }, 'signature'],
  ['user.rootSignin', { email: 'a@example.com', timestamp: 'soon', signature: 'x' }, 'timestamp'],
  ['user.rootSignin', { email: 'a@b.com', timestamp: '1790000000', signature: 'x' }, 'timestamp'],
  ['workspaces.create', { id: 'not alphanumeric', name: 'A' }, 'id'],
  ['workspaces.create', { id: 'badone', name: long }, 'name'],
  [
    'workspaces.create',
    { id: 'badone', name: 'A', settings: { timezone: 'Mars/Base' } },
    'timezone',
  ],
  ['workspaces.update', { id: 'demo', name: '', settings: {} }, 'name'],
  ['workspaces.createAPIKey', { email_prefix: 'a b' }, 'email_prefix'],
  ['workspaces.createIntegration', { name: 'A', type: 'pigeon', provider }, 'type'],
  [
    'workspaces.createIntegration',
    { name: 'A', type: 'email', provider: { ...provider, kind: 'pigeon' } },
    'kind',
  ],
  [
    'workspaces.createIntegration',
    { name: 'A', type: 'email', provider: { ...provider, senders: [{ email: 'x' }] } },
    'senders',
  ],
  ['workspaces.updateIntegration', { name: 'A', provider }, 'integration_id'],
  ['lists.create', { id: 'a-b', name: 'A' }, 'id'],
  ['lists.create', { id: 'badlist' }, 'name'],
  ['lists.create', { id: 'badlist', name: 'A', is_double_optin: true }, 'double'],
  ['lists.update', { id: 'badlist' }, 'name'],
  ['lists.delete', {}, 'id'],
  ['lists.subscribe', { list_ids: ['badlist'] }, 'contact'],
  ['lists.subscribe', { contact: { email: 'bad@example.com' } }, 'list_ids'],
  ['contactLists.updateStatus', { email: 'bad@example.com', list_id: 'l' }, 'status'],
  ['contactLists.updateStatus', { email: 'bad', list_id: 'l', status: 'active' }, 'email'],
  ['contactLists.removeContact', { email: 'bad@example.com' }, 'list_id'],
  ['contacts.delete', {}, 'email'],
  ['contacts.upsert', {}, 'contact'],
  ['contacts.upsert', { contact: { email: 'nonsense' } }, 'email'],
  [
    'contacts.upsert',
    { contact: { email: 'bad@example.com', custom_number_1: 'ten' } },
    'custom_number_1',
  ],
  ['contacts.upsert', { contact: { email: 'bad@example.com', timezone: 'Mars/Base' } }, 'timezone'],
  [
    'contacts.upsert',
    { contact: { email: 'bad@example.com', first_name: 'a\u0000b' } },
    'first_name',
  ],
  ['contacts.import', { contacts: [] }, 'contacts'],
  ['contacts.import', { contacts: 'all' }, 'contacts'],
  [
    'contacts.import',
    { contacts: [{ email: 'bad@example.com' }], subscribe_to_lists: ['nolist'] },
    'subscribe_to_lists',
  ],
  ['templates.create', { id: 'bad id', name: 'A', channel: 'email', category: 'marketing' }, 'id'],
  [
    'templates.create',
    { id: 'bad', name: 'A', channel: 'pigeon', category: 'marketing' },
    'channel',
  ],
  ['templates.create', { id: 'bad', name: 'A', channel: 'email', category: 'marketing' }, 'email'],
  ['templates.compile', { mjml_source: '<mjml></mjml>' }, 'message_id'],
  ['broadcasts.create', { name: 'A' }, 'audience'],
  ['broadcasts.create', { name: long, audience: { list: 'l' } }, 'name'],
  ['broadcasts.create', { name: 'A', audience: { list: '' } }, 'list'],
  [
    'broadcasts.create',
    {
      name: 'A',
      audience: { list: 'l' },
      test_settings: { variations: [...variations, ...variations] },
    },
    'variations',
  ],
  [
    'broadcasts.create',
    { name: 'A', audience: { list: 'l' }, utm_parameters: { source: long } },
    'source',
  ],
  ['broadcasts.update', { name: 'A', audience: { list: 'l' } }, 'id'],
  ...['schedule', 'pause', 'resume', 'cancel', 'delete'].map(
    (action): Bad => [`broadcasts.${action}`, {}, 'id'],
  ),
];

const reads: Bad[] = [
  ['workspaces.get', {}, 'workspace ID'],
  ['lists.get', {}, 'id'],
  ['contacts.list', { limit: '0' }, 'limit'],
  ['contacts.list', { limit: 'many' }, 'limit'],
  ['contacts.list', { contact_list_status: 'asleep' }, 'contact_list_status'],
  ['contacts.list', { cursor: 'garbage' }, 'cursor'],
  ['contacts.getByEmail', {}, 'email'],
  ['contacts.getByExternalID', {}, 'external_id'],
  ['contactLists.getByIDs', { email: 'bad@example.com' }, 'list_id'],
  ['contactLists.getContactsByList', { list_id: 'l', limit: '0' }, 'limit'],
  ['contactLists.getListsByContact', { email: 'bad' }, 'email'],
  ['lists.stats', {}, 'list_id'],
  ['templates.get', {}, 'id'],
  ['templates.get', { id: 't', version: '-1' }, 'version'],
  ['templates.list', { channel: 'pigeon' }, 'channel'],
  ['broadcasts.get', {}, 'id'],
  ['broadcasts.list', { limit: '1001' }, 'limit'],
  ['broadcasts.list', { offset: '-1' }, 'offset'],
  ['broadcasts.list', { status: 'asleep' }, 'status'],
  ['messages.list', { limit: '1001' }, 'limit'],
  ['messages.list', { cursor: 'garbage' }, 'cursor'],
  ['messages.list', { sent_after: 'yesterday' }, 'sent_after'],
  ['messages.broadcastStats', {}, 'broadcast_id'],
];

const isOutside = (operation: string): boolean =>
  /^user\.|^workspaces\.(create|get|update|list)$/.test(operation);

function given([operation, fields]: Bad): Record<string, unknown> {
  return isOutside(operation) ? fields : { workspace_id: stack.workspaceId, ...fields };
}

function expectNamed(answer: { status: number; body: unknown }, [operation, , field]: Bad): void {
  expect([operation, field, answer.status]).toEqual([operation, field, 400]);
  expect(JSON.stringify(answer.body)).toContain(field);
}

/** The number of resources of each kind. */
async function inventory(): Promise<number[]> {
  const query = { workspace_id: stack.workspaceId };
  const read = async (operation: string) =>
    good(await stack.call(operation, undefined, { query, token }));
  return [
    (await read('workspaces.list')).length,
    (await read('lists.list')).lists.length,
    (await read('contacts.count')).total_contacts,
    (await read('templates.list')).templates.length,
    (await read('broadcasts.list')).total_count,
  ];
}

test('bad input to any writing operation is a 400 that names the field, and writes nothing', async () => {
  const before = await inventory();
  for (const bad of writes) {
    expectNamed(await stack.call(bad[0], given(bad), { token }), bad);
  }
  expect(await inventory()).toEqual(before);
}, 60_000);

test('bad input to any reading operation is a 400 that names the field', async () => {
  for (const bad of reads) {
    const query = given(bad) as Record<string, string>;
    expectNamed(await stack.call(bad[0], undefined, { query, token }), bad);
  }
}, 60_000);

const operations = [...new Set([...writes, ...reads].map(([operation]) => operation))];

test('every operation but the sign-in requires a token', async () => {
  for (const operation of operations) {
    if (operation === 'user.rootSignin') continue;
    const isWrite = writes.some(([name]) => name === operation);
    const { status } = await stack.call(operation, isWrite ? {} : undefined, { token: '' });
    expect([operation, status]).toEqual([operation, 401]);
  }
}, 60_000);

test('every operation in a foreign workspace is a 403', async () => {
  for (const operation of operations) {
    if (isOutside(operation)) continue;
    const isWrite = writes.some(([name]) => name === operation);
    const foreign = { workspace_id: 'foreign' };
    const answer = isWrite
      ? await stack.call(operation, foreign)
      : await stack.call(operation, undefined, { query: foreign });
    expect([operation, answer.status]).toEqual([operation, 403]);
  }
}, 60_000);
