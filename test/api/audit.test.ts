import { beforeAll, expect, test } from '@jest/globals';
import { act, givenBroadcast, good, unique } from '../stack/given.ts';
import { givenWorkspace } from '../stack/given-workspace.ts';
import { ownerToken } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';
import type { TestStack } from '../stack.ts';

/** The audit log over HTTP, with entries of every service. */

let owner: string;
let tenant: TestStack;
let keyName: string;
const stack = borrowedStack();
beforeAll(async () => {
  owner = await ownerToken(stack.settings);
  const { id: workspaceId } = await givenWorkspace(stack);
  const body = { workspace_id: workspaceId, email_prefix: unique('key') };
  const key = good(await stack.call('workspaces.createAPIKey', body, { token: owner }));
  keyName = key.email;
  const call: TestStack['call'] = (operation, request, options) =>
    stack.call(operation, request, { token: key.token, ...options });
  tenant = { ...stack, workspaceId, call };
}, 60_000);

type Entry = Record<string, string>;

async function logOf(over: Record<string, string> = {}): Promise<Entry[]> {
  const query = { workspace_id: tenant.workspaceId, limit: '100', ...over };
  return good(await stack.call('workspaces.auditLog', undefined, { query, token: owner })).entries;
}

/** The newest entry of an action, as soon as it is there. */
async function entryOf(action: string): Promise<Entry> {
  let found: Entry | undefined;
  await until(`${action} is in the log`, async () => {
    [found] = await logOf({ action });
    return found !== undefined;
  });
  return found ?? {};
}

test('changes by a key in every service are in the log, with its name, address and request', async () => {
  const { workspaceId: workspace_id } = tenant;
  const { id, listId, templateId } = await givenBroadcast(tenant, 1);
  const list = { workspace_id, id: listId, name: 'Renamed', is_public: true };
  const headers = { 'x-request-id': unique('request-') };
  good(await tenant.call('lists.update', list, { headers }));
  good(await act(tenant, 'schedule', id, { send_now: true }));
  const url = 'https://example.com/hook';
  const hook = { workspace_id, name: 'Hook', url, settings: { event_types: ['list.subscribed'] } };
  const { subscription } = good(await tenant.call('webhookSubscriptions.create', hook));
  good(
    await tenant.call('transactional.create', {
      workspace_id,
      notification: {
        id: 'hello',
        name: 'Hello',
        channels: { email: { template_id: templateId } },
      },
    }),
  );
  const targets = {
    'lists.create': listId,
    'lists.update': listId,
    'templates.create': templateId,
    'broadcasts.create': id,
    'broadcasts.schedule': id,
    'webhookSubscriptions.create': subscription.id,
    'transactional.create': 'hello',
  };
  for (const [action, target_id] of Object.entries(targets)) {
    expect(await entryOf(action)).toMatchObject({
      action,
      target_id,
      actor_type: 'api_key',
      actor_name: keyName,
      client_address: '127.0.0.1',
    });
  }
  expect(await entryOf('lists.update')).toMatchObject({ request_id: headers['x-request-id'] });
  expect((await logOf()).map(({ action }) => action)).not.toContain('contacts.import');
}, 60_000);

test('an export is in the log once, and a deleted contact without its address', async () => {
  const { workspaceId: workspace_id, settings } = tenant;
  const email = `${unique('gone')}@example.com`;
  good(await tenant.call('contacts.upsert', { workspace_id, contact: { email } }));
  good(await tenant.call('contacts.delete', { workspace_id, email }));
  const exported = await fetch(
    `${settings.BASE_URL}/api/messages.export?workspace_id=${workspace_id}`,
    { headers: { authorization: `Bearer ${owner}` } },
  );
  expect(exported.status).toBe(200);
  await exported.text();
  expect(await entryOf('messages.export')).toMatchObject({ actor_type: 'user' });
  expect(await entryOf('contacts.delete')).toMatchObject({ target_id: '' });
  expect(JSON.stringify(await logOf())).not.toContain(email);
}, 60_000);
