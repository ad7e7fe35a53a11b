import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { claimDue } from '../sending/claim.ts';
import { deliveriesOf, sendEvents, setEndpoint } from '../test/deliveries.ts';
import {
  givenDeliveries,
  givenService,
  givenSubscription,
  givenWorkspace,
  jobsOf,
  useService,
} from '../test/given.ts';
import { givenListener, sendTypes } from '../test/listeners.ts';
import { Backlog } from './backlog.ts';
import { type BacklogNotice, trim } from './trim.ts';

const base = useService();
const limits = {
  pendingOfSubscription: 20,
  waitingOfListener: 1_000,
  pendingOfWorkspace: 50,
  keptOfWorkspace: 100,
  bytesOfWorkspace: 1_000_000,
};

/** A service with low limits on the same database. */
async function givenLimited() {
  const { context, clock } = base;
  const backlog = new Backlog(context, async () => limits);
  const given = await givenService({ ...context, backlog, now: () => clock.now });
  return { ...given, clock, backlog };
}

const at = (minutes: number) => new Date(base.clock.now.getTime() + minutes * 60_000);

/** Numbered events, each a minute after the one before. */
const numbered = (subscriptionId: string, count: number, from = 0) =>
  Array.from({ length: count }, (_, number) => ({
    subscriptionId,
    eventType: `${from + number}`,
    createdAt: at(from + number - 1_000),
  }));

const notices = async (workspaceId: string) =>
  ((await jobsOf(base, 'notifyOfBacklog')) as BacklogNotice[]).filter(
    (notice) => notice.workspaceId === workspaceId,
  );

test('the oldest pending deliveries of a subscription fail beyond its limit, with the reason, and its owners are notified once', async () => {
  const { client, backlog } = await givenLimited();
  const workspaceId = givenWorkspace();
  const { id } = await givenSubscription(base, workspaceId);
  const other = await givenSubscription(base, workspaceId);
  await givenDeliveries(base, workspaceId, [
    ...numbered(id, 25),
    { subscriptionId: other.id, createdAt: at(-2_000) },
  ]);
  backlog.added(workspaceId, new Map([[id, 25]]), 0);
  await backlog.settled();
  const { deliveries } = await client.listWebhookDeliveries({
    ...{ workspaceId, subscriptionId: id, status: 'failed', limit: 100 },
  });
  expect(deliveries.map(({ eventType }) => eventType)).toEqual(['4', '3', '2', '1', '0']);
  expect(deliveries[0]).toMatchObject({
    attempts: 0,
    lastError: 'more than 20 deliveries of the subscription were waiting',
  });
  expect(deliveries[0]?.nextAttemptAt).toBeUndefined();
  const { subscriptions } = await client.listWebhookSubscriptions({ workspaceId });
  const droppedAt = new Map(subscriptions.map((each) => [each.id, each.backlogDroppedAt]));
  expect(droppedAt.get(id)).toBeDefined();
  expect(droppedAt.get(other.id)).toBeUndefined();
  expect(await notices(workspaceId)).toMatchObject([
    { name: 'CRM', host: 'hooks.example.com', failed: 5, subscriptions: 1 },
  ]);

  await givenDeliveries(base, workspaceId, numbered(id, 10, 100));
  const { context } = base;
  await context.store.fork().execute('delete from webhooks_jobs._private_jobs');
  backlog.added(workspaceId, new Map([[id, 10]]), 0);
  await backlog.settled();
  const rows = await deliveriesOf(base, workspaceId);
  expect(rows.filter(({ status }) => status === 'failed')).toHaveLength(15);
  expect(await notices(workspaceId)).toEqual([]);
});

test('an endpoint whose circuit is open collects no more than its limit, from events as they come', async () => {
  const limited = await givenLimited();
  const workspaceId = givenWorkspace();
  const { id } = await givenSubscription(base, workspaceId, { url: 'http://127.0.0.1:1/' });
  await setEndpoint(base, id, { failures_in_row: 5, probe_at: at(10_000) });
  for (let batch = 0; batch < 12; batch += 1) {
    const events = Array.from({ length: 5 }, (_, number) => ({ number }));
    await sendEvents(limited, workspaceId, events);
    await limited.backlog.settled();
  }
  const rows = await deliveriesOf(base, workspaceId);
  expect(rows).toHaveLength(60);
  const pending = rows.filter(({ status }) => status === 'pending');
  // One batch above it, until they are counted again.
  expect(pending.length).toBeLessThanOrEqual(25);
  expect(pending.length).toBeGreaterThanOrEqual(20);
});

test('beyond the limit of the workspace the oldest of all its subscriptions fail', async () => {
  const { backlog } = await givenLimited();
  const workspaceId = givenWorkspace();
  const ids: string[] = [];
  for (let count = 0; count < 4; count += 1) {
    ids.push((await givenSubscription(base, workspaceId)).id);
  }
  for (const [place, id] of ids.entries()) {
    await givenDeliveries(base, workspaceId, numbered(id, 15, 100 * place));
  }
  backlog.added(workspaceId, new Map(ids.map((id) => [id, 15])), 0);
  await backlog.settled();
  const rows = await deliveriesOf(base, workspaceId);
  const failed = rows.filter(({ status }) => status === 'failed');
  expect(failed.map(({ event_type }) => Number(event_type))).toEqual([...Array(10).keys()]);
  expect(failed[0]?.last_error).toBe('more than 50 deliveries of the workspace were waiting');
});

test('the oldest fail where one subscription has nearly all of them', async () => {
  const { context } = base;
  const workspaceId = givenWorkspace();
  const ids: string[] = [];
  for (let each = 0; each < 4; each += 1) {
    ids.push((await givenSubscription(base, workspaceId)).id);
  }
  const [old = '', ...young] = ids;
  await givenDeliveries(base, workspaceId, [
    ...numbered(old, 1_000),
    ...young.flatMap((id) => numbered(id, 200, 1_000)),
  ]);
  const roomy = { ...limits, pendingOfSubscription: 5_000, keptOfWorkspace: 5_000 };
  const { pending } = await trim(context, workspaceId, { ...roomy, pendingOfWorkspace: 99 });
  expect(pending).toEqual(new Map([[old, 0], ...young.map((id) => [id, 33] as const)]));
});

test('a delivery whose attempt is open does not fail for the number of those that wait', async () => {
  const { backlog } = await givenLimited();
  const workspaceId = givenWorkspace();
  const { id } = await givenSubscription(base, workspaceId);
  await givenDeliveries(base, workspaceId, numbered(id, 25));
  const key = { workspaceId, id };
  const [claim] = await claimDue(base.context.store, 'first', [{ key, slots: 2 }], base.clock.now);
  backlog.added(workspaceId, new Map([[id, 25]]), 0);
  await backlog.settled();
  const rows = await deliveriesOf(base, workspaceId);
  const failed = rows.filter(({ status }) => status === 'failed').map((row) => row.id);
  expect(failed).toHaveLength(5);
  for (const open of claim?.deliveries ?? []) expect(failed).not.toContain(open.id);
});

test('beyond the number that a workspace keeps the oldest that are done are deleted', async () => {
  const { backlog } = await givenLimited();
  const workspaceId = givenWorkspace();
  const { id } = await givenSubscription(base, workspaceId);
  const done = numbered(id, 105).map((row) => ({ ...row, status: 'delivered' as const }));
  await givenDeliveries(base, workspaceId, [
    { subscriptionId: id, createdAt: at(-9_000) },
    ...done,
  ]);
  backlog.added(workspaceId, new Map([[id, 106]]), 0);
  await backlog.settled();
  const rows = await deliveriesOf(base, workspaceId);
  expect(rows).toHaveLength(100);
  expect(rows.filter(({ status }) => status === 'pending')).toHaveLength(1);
  expect(rows.find(({ status }) => status === 'delivered')?.event_type).toBe('6');
});

test('more deliveries are stored only once those far beyond the limit have gone', async () => {
  const { context, clock } = base;
  const workspaceId = givenWorkspace();
  const { id } = await givenSubscription(base, workspaceId);
  const counting = Promise.withResolvers<void>();
  let isHeld = false;
  const backlog = new Backlog(context, async () => {
    if (isHeld) await counting.promise;
    return limits;
  });
  const given = await givenService({ ...context, backlog, now: () => clock.now });
  const send = (number: number) =>
    sendEvents(given, workspaceId, [{ contact: { email: `a${number}@b.co` } }]);
  await send(0);
  await backlog.settled();
  await givenDeliveries(base, workspaceId, numbered(id, 60));
  isHeld = true;
  backlog.added(workspaceId, new Map([[id, 60]]), 0);
  const next = send(1);
  const first = await Promise.race([next.then(() => 'stored'), sleep(300, 'waits')]);
  counting.resolve();
  await next;
  await backlog.settled();
  const rows = await deliveriesOf(base, workspaceId);
  expect([first, rows.filter(({ status }) => status === 'pending').length]).toEqual(['waits', 20]);
});

test('two processes that trim at once fail a step more than is beyond at most, and delete nothing more', async () => {
  const { context } = base;
  const workspaceId = givenWorkspace();
  const { id } = await givenSubscription(base, workspaceId);
  const many = { ...limits, pendingOfSubscription: 15_000, pendingOfWorkspace: 15_000 };
  await givenDeliveries(base, workspaceId, numbered(id, 30_000));
  const both = (of: typeof limits) => Promise.all([1, 2].map(() => trim(context, workspaceId, of)));
  const pending = async () =>
    (await deliveriesOf(base, workspaceId)).filter(({ status }) => status === 'pending').length;
  await both({ ...many, keptOfWorkspace: 50_000 });
  expect(await pending()).toBeLessThanOrEqual(15_000);
  expect(await pending()).toBeGreaterThanOrEqual(10_000);
  const before = await pending();
  await both({ ...many, keptOfWorkspace: 18_000 });
  expect((await deliveriesOf(base, workspaceId)).length).toBe(18_000);
  expect(await pending()).toBe(before);
}, 60_000);

test('payloads beyond the bytes of a workspace go with the oldest deliveries, those that wait as well', async () => {
  const { context, clock } = base;
  const workspaceId = givenWorkspace();
  const { id } = await givenSubscription(base, workspaceId);
  const few = { ...limits, pendingOfSubscription: 1_000, pendingOfWorkspace: 1_000 };
  const backlog = new Backlog(context, async () => ({ ...few, bytesOfWorkspace: 5_000 }));
  const given = await givenService({ ...context, backlog, now: () => clock.now });
  const text = (at: number) => Buffer.from(`${at}`.repeat(500)).toString('base64url').slice(0, 900);
  for (let number = 0; number < 20; number += 1) {
    await sendEvents(given, workspaceId, [
      {
        type: 'contact.created',
        data: { contact: { email: `a${number}@b.co`, note: text(number) } },
      },
    ]);
    await backlog.settled();
  }
  const [row] = await query<{ bytes: string }>(
    context.store.fork(),
    'select sum(pg_column_size(payload))::text as bytes from events where workspace_id = $1',
    [workspaceId],
  );
  expect(Number(row?.bytes)).toBeLessThanOrEqual(5_500);
  const left = await deliveriesOf(base, workspaceId);
  expect(left.length).toBeGreaterThan(0);
  expect(left.filter((each) => each.subscription_id === id)).toHaveLength(left.length);
});

test('events that wait for a listener are deleted before deliveries of subscriptions fail or go', async () => {
  const { context } = base;
  const workspaceId = givenWorkspace();
  const { id } = await givenSubscription(base, workspaceId, { eventTypes: ['contact.created'] });
  const listener = await givenListener(base, workspaceId, ['email.sent']);
  await givenDeliveries(base, workspaceId, [
    { subscriptionId: id, createdAt: at(-100), status: 'failed' },
    { subscriptionId: id, createdAt: at(-90), status: 'delivered' },
    ...numbered(id, 10),
  ]);
  const text = () => Buffer.from(crypto.getRandomValues(new Uint8Array(600))).toString('base64');
  const send = (count: number) =>
    sendTypes(
      base,
      workspaceId,
      Array.from({ length: count }, () => 'email.sent'),
      { email: 'a@example.com', text: text() },
    );
  const statuses = async () =>
    (await deliveriesOf(base, workspaceId))
      .filter(({ subscription_id }) => subscription_id === id)
      .map(({ status }) => status);
  const before = await statuses();
  await send(30);
  await trim(context, workspaceId, { ...limits, bytesOfWorkspace: 5_000 });
  expect(await statuses()).toEqual(before);
  expect(await listener.take()).toMatchObject({ dropped: 30, events: [] });
  await send(30);
  await trim(context, workspaceId, { ...limits, keptOfWorkspace: 25, waitingOfListener: 5 });
  expect(await statuses()).toEqual(before);
  expect(await listener.take()).toMatchObject({ dropped: 55 });
});
