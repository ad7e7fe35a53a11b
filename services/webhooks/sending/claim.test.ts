import { create } from '@bufbuild/protobuf';
import { expect, test } from '@jest/globals';
import { EventSchema } from '#gen/postrider/events/v1/events_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { insertDeliveries } from '../matching/deliveries.ts';
import type { SubscriptionKey } from '../subscription.ts';
import { deliveriesOf, endpointOf, setEndpoint, until } from '../test/deliveries.ts';
import { givenDeliveries, givenSubscription, givenWorkspace, useService } from '../test/given.ts';
import { claimDue, claimSql, giveBack } from './claim.ts';
import { recordResults } from './results.ts';

const given = useService();
const success = { status: 200, body: '', error: null, retryAfterMs: 0 };
const failure = { status: 500, body: '', error: 'HTTP 500', retryAfterMs: 0 };

async function givenPending(rows: { attempts?: number; createdAt?: Date }[]) {
  const workspaceId = givenWorkspace();
  const { id } = await givenSubscription(given, workspaceId);
  const key = { workspaceId, id };
  await givenDeliveries(
    given,
    workspaceId,
    rows.map((row) => ({ subscriptionId: id, ...row })),
  );
  const claim = async (kind: 'first' | 'retry', slots: number, now = given.clock.now) => {
    const claims = await claimDue(given.context.store, kind, [{ key, slots }], now);
    return claims.flatMap(({ deliveries }) => deliveries);
  };
  return { key, claim };
}

const later = (ms: number) => new Date(given.clock.now.getTime() + ms);

test('claims never give one delivery to two claimers', async () => {
  const { claim } = await givenPending(Array(100).fill({}));
  const claims = await Promise.all(Array.from({ length: 12 }, () => claim('first', 20)));
  const ids = claims.flat().map(({ id }) => id);
  expect(ids).toHaveLength(100);
  expect(new Set(ids).size).toBe(100);
});

test('a claim gives as many as were asked for, the oldest first', async () => {
  const { claim, key } = await givenPending(
    [3, 1, 2].map((minutes) => ({ createdAt: later(-60_000 * minutes) })),
  );
  const [oldest] = await deliveriesOf(given, key.workspaceId);
  expect((await claim('first', 1)).map(({ id }) => id)).toEqual([oldest?.id]);
  expect(await claim('first', 5)).toHaveLength(2);
});

test('a claim that is not recorded is a retry after 30 seconds, never a first attempt', async () => {
  const { claim } = await givenPending([{}]);
  expect(await claim('first', 5)).toMatchObject([{ attempt: 1 }]);
  expect(await claim('first', 5, later(40_000))).toEqual([]);
  expect(await claim('retry', 5, later(29_000))).toEqual([]);
  expect(await claim('retry', 5, later(30_000))).toMatchObject([{ attempt: 2 }]);
});

test('the result of a lost claim changes nothing', async () => {
  const { claim, key } = await givenPending([{}]);
  const [lost] = await claim('first', 1);
  const [taken] = await claim('retry', 1, later(30_000));
  const result = { key, id: lost!.id, endedAt: later(31_000) };
  await recordResults(
    given.context.store,
    [{ ...result, attempt: lost!.attempt, answer: failure }],
    given.context,
  );
  expect(await deliveriesOf(given, key.workspaceId)).toMatchObject([
    { status: 'pending', attempts: 2, last_error: null },
  ]);
  expect(await endpointOf(given, key.id)).toMatchObject({ failures_in_row: 0, next_wake_at: null });
  await recordResults(
    given.context.store,
    [{ ...result, attempt: taken!.attempt, answer: success }],
    given.context,
  );
  expect(await deliveriesOf(given, key.workspaceId)).toMatchObject([{ status: 'delivered' }]);
});

test('a delivery that is given back was never claimed', async () => {
  const { claim, key } = await givenPending([{}]);
  await giveBack(given.context.store, await claim('first', 1), given.clock.now);
  expect(await deliveriesOf(given, key.workspaceId)).toMatchObject([
    { attempts: 0, last_attempt_at: null },
  ]);
  expect(await claim('first', 1)).toMatchObject([{ attempt: 1 }]);
});

test('disabled and deleted subscriptions are not claimed', async () => {
  const { claim, key } = await givenPending([{}, { attempts: 1 }]);
  await setEndpoint(given, key.id, { enabled: false });
  expect(await claim('first', 5)).toEqual([]);
  expect(await claim('retry', 5)).toEqual([]);
  await given.client.deleteWebhookSubscription(key);
  expect(await claim('first', 5)).toEqual([]);
});

test('while the circuit is open only the probe is claimed, once, a first attempt before a retry', async () => {
  const { claim, key } = await givenPending([{}, { attempts: 1 }]);
  await setEndpoint(given, key.id, { failures_in_row: 5, probe_at: later(10_000) });
  expect(await claim('first', 20, later(9_999))).toEqual([]);
  const claims = await Promise.all(
    (['first', 'retry', 'first', 'retry'] as const).map((kind) => claim(kind, 20, later(10_000))),
  );
  expect(claims.flat()).toMatchObject([{ attempt: 1 }]);
  expect((await endpointOf(given, key.id))?.probe_at).toEqual(later(40_000));
  expect(await claim('first', 20, later(40_000))).toMatchObject([{ attempt: 2 }]);
  expect(await claim('first', 20, later(80_000))).toHaveLength(1);
});

test('nothing due leaves the time of the probe as it is', async () => {
  const { claim, key } = await givenPending([]);
  await setEndpoint(given, key.id, { failures_in_row: 5, probe_at: given.clock.now });
  await claim('first', 20);
  expect((await endpointOf(given, key.id))?.probe_at).toEqual(given.clock.now);
});

test('after the circuit has closed claims are paced: ten a second, twice as many every second, then all', async () => {
  const { claim, key } = await givenPending(Array(400).fill({}));
  await setEndpoint(given, key.id, {
    recovered_at: given.clock.now,
    next_claim_at: given.clock.now,
  });
  const countAt = async (ms: number) => (await claim('first', 100, later(ms))).length;
  expect(await countAt(0)).toBe(1);
  expect(await countAt(99)).toBe(0);
  expect(await countAt(100)).toBe(1);
  expect(await countAt(1_000)).toBe(2);
  expect(await countAt(3_050)).toBe(8);
  expect(await countAt(8_000)).toBe(100);
  expect(await endpointOf(given, key.id)).toMatchObject({
    recovered_at: null,
    next_claim_at: null,
  });
  expect(await countAt(8_000)).toBe(100);
});

test('a claim looks for the deliveries of each endpoint alone, whatever the table was like when it was planned', async () => {
  const { key } = await givenPending([{}, {}, {}]);
  const em = given.context.store.fork();
  await query(em, 'delete from deliveries where workspace_id <> $1', [key.workspaceId]);
  await query(em, 'vacuum analyze deliveries', []);
  const asked = Array.from({ length: 50 }, () => key);
  const lines = await query<Record<string, string>>(em, `explain ${claimSql}`, [
    asked.map(({ workspaceId }) => workspaceId),
    asked.map(({ id }) => id),
    asked.map(() => 1),
    given.clock.now.toISOString(),
    true,
  ]);
  const plan = lines.flatMap((line) => Object.values(line)).join('\n');
  expect(plan).toContain('deliveries_first');
  // It would read the deliveries of all endpoints that wait.
  expect(plan).not.toContain('hashed SubPlan');
});

test('a claim waits for endpoints in the order of their keys, so never in a circle with those who record', async () => {
  const workspaceId = givenWorkspace();
  const made = [
    await givenSubscription(given, workspaceId),
    await givenSubscription(given, workspaceId),
  ];
  const [low, high] = made.map(({ id }) => id).toSorted();
  for (const id of [low!, high!]) {
    await givenDeliveries(given, workspaceId, [{ subscriptionId: id }]);
    await setEndpoint(given, id, { probe_at: later(-1_000), failures_in_row: 5 });
  }
  const em = given.context.store.fork();
  const lock = (id: string | undefined, tx: typeof em) =>
    query(tx, 'select from subscriptions where workspace_id = $1 and id = $2 for update', [
      workspaceId,
      id,
    ]);
  const asks = [high!, low!].map((id) => ({ key: { workspaceId, id }, slots: 1 }));
  let claims: ReturnType<typeof claimDue> | undefined;
  await em.transactional(async (tx) => {
    await lock(low, tx);
    claims = claimDue(given.context.store, 'first', asks, given.clock.now);
    await until(async () => {
      const [row] = await query<{ waits: boolean }>(
        given.context.store.fork(),
        'select exists (select from pg_locks where not granted) as waits',
        [],
      );
      return row?.waits ?? false;
    });
    await lock(high, tx);
  });
  expect((await claims)?.flatMap(({ deliveries }) => deliveries)).toHaveLength(2);
});

/** As version 0.2 claims first attempts and gives them back. */
async function claimAsBefore(workspaceId: string): Promise<string[]> {
  const rows = await query<{ data: string }>(
    given.context.store.fork(),
    `update deliveries set attempts = attempts + 1, last_attempt_at = $2,
       next_attempt_at = $2::timestamptz + interval '30 seconds'
     where workspace_id = $1 and status = 'pending' and attempts = 0 returning payload::text as data`,
    [workspaceId, given.clock.now],
  );
  return rows.map(({ data }) => data);
}

/** Stores an event for a subscription; nobody claims it. */
async function store({ workspaceId, id }: SubscriptionKey, data: object): Promise<void> {
  const event = create(EventSchema, { type: 'contact.created', dataJson: JSON.stringify(data) });
  const batch = { workspaceId, batchId: crypto.randomUUID(), events: [event] };
  const matches = [{ place: 0, subscriptionId: id, isWaiting: false }];
  const { store: database } = given.context;
  await insertDeliveries(database, [{ batch, matches }], { now: given.clock.now });
}

test('a process of the last release claims an event with its payload, also after a claim that was given back or redelivered', async () => {
  const { key, claim } = await givenPending([]);
  const data = { email: 'a@example.com' };
  await store(key, data);
  const claims = await claim('first', 1);
  expect(claims.map((each) => JSON.parse(each.data))).toEqual([data]);
  await giveBack(given.context.store, claims, given.clock.now);
  expect((await claimAsBefore(key.workspaceId)).map((text) => JSON.parse(text))).toEqual([data]);

  await store(key, data);
  await claim('first', 1);
  const em = given.context.store.fork();
  await query(em, "update deliveries set status = 'failed' where workspace_id = $1", [
    key.workspaceId,
  ]);
  const since = { seconds: 0n, nanos: 0 };
  await given.client.redeliverWebhooks({ ...key, since });
  const again = await claimAsBefore(key.workspaceId);
  expect(again.map((text) => JSON.parse(text))).toEqual([data, data]);
});

test('a claim of a delivery that a process of the last release stored has its payload', async () => {
  const { claim } = await givenPending([{}]);
  expect((await claim('first', 1)).map(({ data }) => JSON.parse(data))).toEqual([
    { email: 'a@example.com' },
  ]);
});
