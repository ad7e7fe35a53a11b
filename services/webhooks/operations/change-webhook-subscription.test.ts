import { Code } from '@connectrpc/connect';
import { afterEach, expect, test } from '@jest/globals';
import { pushInterests } from '#lib/events/interest-pushes.ts';
import { query } from '#lib/postgres/query.ts';
import { interests } from '../interests/interests.ts';
import { workflowIdOf } from '../lifecycle/run.ts';
import { Subscription } from '../subscription.ts';
import {
  content,
  givenDeliveries,
  givenSubscription,
  givenWorkspace,
  jobsOf,
  useService,
} from '../test/given.ts';

const given = useService();

afterEach(() => {
  given.told.interests = [];
});

const rowOf = (workspaceId: string, id: string) =>
  given.context.store.fork().findOneOrFail(Subscription, { workspace_id: workspaceId, id });

/** As after five failures. */
async function givenFailing(workspaceId: string) {
  const subscription = await givenSubscription(given, workspaceId);
  await query(
    given.context.store.fork(),
    `update subscriptions set failures_in_row = 5, failing_since = now(), probe_at = now(),
       disabled_reason = 'gone' where workspace_id = $1`,
    [workspaceId],
  );
  return subscription;
}
const healthy = { failures_in_row: 0, failing_since: null, probe_at: null, disabled_reason: null };

test('update replaces all fields but the secret', async () => {
  const workspaceId = givenWorkspace();
  const before = await givenSubscription(given, workspaceId, { listIds: ['news'] });
  const changed = { name: 'Other', url: 'https://example.com/', eventTypes: ['list.pending'] };
  given.clock.now = new Date(given.clock.now.getTime() + 1_000);
  const { subscription } = await given.client.updateWebhookSubscription({
    workspaceId,
    id: before.id,
    ...changed,
  });
  expect(subscription).toMatchObject({ ...changed, listIds: [], enabled: true });
  expect(subscription?.secret).toBe(before.secret);
  expect(subscription?.updatedAt).not.toEqual(before.updatedAt);
  expect(subscription?.createdAt).toEqual(before.createdAt);
});

test('a new address makes a new start, the same one does not', async () => {
  const workspaceId = givenWorkspace();
  const { id } = await givenFailing(workspaceId);
  await given.client.updateWebhookSubscription({ workspaceId, id, ...content, name: 'Other' });
  expect(await rowOf(workspaceId, id)).toMatchObject({ failures_in_row: 5 });
  const url = 'https://example.com/';
  await given.client.updateWebhookSubscription({ workspaceId, id, ...content, url });
  expect(await rowOf(workspaceId, id)).toMatchObject(healthy);
});

test('update enables and disables only where it says so', async () => {
  const workspaceId = givenWorkspace();
  const { id } = await givenSubscription(given, workspaceId);
  const update = async (over: object) =>
    (await given.client.updateWebhookSubscription({ workspaceId, id, ...content, ...over }))
      .subscription?.enabled;
  expect(await update({ enabled: false })).toBe(false);
  expect(await update({})).toBe(false);
  expect(await update({ enabled: true })).toBe(true);
  expect(await update({})).toBe(true);
});

test('toggle disables, and enabling forgets earlier failures', async () => {
  const workspaceId = givenWorkspace();
  const { id } = await givenFailing(workspaceId);
  const off = await given.client.toggleWebhookSubscription({ workspaceId, id, enabled: false });
  expect(off.subscription).toMatchObject({ enabled: false });
  const on = await given.client.toggleWebhookSubscription({ workspaceId, id, enabled: true });
  expect(on.subscription).toMatchObject({ enabled: true });
  expect(on.subscription?.disabledReason).toBeUndefined();
  expect(await rowOf(workspaceId, id)).toMatchObject(healthy);
});

test('enabling wakes the run if retries wait', async () => {
  const workspaceId = givenWorkspace();
  const [idle, waiting] = [
    await givenSubscription(given, workspaceId),
    await givenSubscription(given, workspaceId),
  ];
  await givenDeliveries(given, workspaceId, [
    { subscriptionId: idle.id },
    { subscriptionId: waiting.id, attempts: 1 },
  ]);
  for (const { id } of [idle, waiting]) {
    for (const enabled of [false, true]) {
      await given.client.toggleWebhookSubscription({ workspaceId, id, enabled });
    }
  }
  const woken = (await jobsOf(given, 'wake')) as { key: { workspaceId: string; id: string } }[];
  expect(woken.map(({ key }) => workflowIdOf(key))).toEqual([
    workflowIdOf({ workspaceId, id: waiting.id }),
  ]);
});

test('what nobody wants any more is told by a job', async () => {
  const workspaceId = givenWorkspace();
  const { id } = await givenSubscription(given, workspaceId);
  given.told.interests = [];
  await given.client.toggleWebhookSubscription({ workspaceId, id, enabled: false });
  expect(given.told.interests).toEqual([]);
  expect(await jobsOf(given, 'pushInterests')).toContainEqual({ workspaceId });
  await pushInterests(interests, given.context.producers, given.context)({ workspaceId });
  const none = [
    // The deliveries about a contact that is deleted are erased.
    { producer: 'contacts', workspaceId, types: ['contact.deleted'] },
    { producer: 'messages', workspaceId, types: [] },
  ];
  expect(given.told.interests).toEqual(none);
  await given.client.toggleWebhookSubscription({ workspaceId, id, enabled: true });
  expect(given.told.interests.at(-1)).toEqual({
    producer: 'messages',
    workspaceId,
    types: ['email.sent'],
  });
});

test('at the start every workspace is told, then that all others want nothing', async () => {
  const workspaceId = givenWorkspace();
  await givenSubscription(given, workspaceId);
  given.told.interests = [];
  await pushInterests(interests, given.context.producers, given.context)({});
  expect(given.told.interests).toContainEqual({
    producer: 'contacts',
    workspaceId,
    types: ['contact.created', 'contact.deleted'],
  });
  expect(given.told.interests.slice(-2)).toEqual([
    { producer: 'contacts', workspaceId: '', types: [] },
    { producer: 'messages', workspaceId: '', types: [] },
  ]);
});

test('regenerateSecret replaces the secret', async () => {
  const workspaceId = givenWorkspace();
  const { id, secret } = await givenSubscription(given, workspaceId);
  const { subscription } = await given.client.regenerateWebhookSecret({ workspaceId, id });
  expect(subscription?.secret).toMatch(/^whsec_/);
  expect(subscription?.secret).not.toBe(secret);
  const read = await given.client.getWebhookSubscription({ workspaceId, id });
  expect(read.subscription?.secret).toBe(subscription?.secret);
});

test('delete removes the subscription and queues the removal of its deliveries', async () => {
  const workspaceId = givenWorkspace();
  const { id } = await givenSubscription(given, workspaceId);
  expect(await given.client.deleteWebhookSubscription({ workspaceId, id })).toMatchObject({
    success: true,
  });
  expect(await jobsOf(given, 'forgetDeliveries')).toContainEqual({ workspaceId, id });
  const { subscriptions } = await given.client.listWebhookSubscriptions({ workspaceId });
  expect(subscriptions).toEqual([]);
});

test('delete wakes a run that waits, so that it ends', async () => {
  const workspaceId = givenWorkspace();
  const { id } = await givenSubscription(given, workspaceId);
  await query(
    given.context.store.fork(),
    'update subscriptions set next_wake_at = now() where workspace_id = $1',
    [workspaceId],
  );
  await given.client.deleteWebhookSubscription({ workspaceId, id });
  expect(await jobsOf(given, 'wake')).toContainEqual({
    key: { workspaceId, id },
    host: 'hooks.example.com',
  });
});

test('an unknown or foreign subscription is not found', async () => {
  const { id } = await givenSubscription(given, givenWorkspace());
  const key = { workspaceId: givenWorkspace(), id };
  const missing = { code: Code.NotFound, rawMessage: 'Webhook subscription not found' };
  const { client } = given;
  for (const call of [
    () => client.getWebhookSubscription(key),
    () => client.updateWebhookSubscription({ ...key, ...content }),
    () => client.toggleWebhookSubscription(key),
    () => client.regenerateWebhookSecret(key),
    () => client.deleteWebhookSubscription(key),
    () => client.redeliverWebhooks({ ...key, deliveryId: crypto.randomUUID() }),
  ]) {
    await expect(call()).rejects.toMatchObject(missing);
  }
});
