import { expect, test } from '@jest/globals';
import { deliveriesOf, endpointOf, setEndpoint } from '../test/deliveries.ts';
import {
  givenDeliveries,
  givenSubscription,
  givenWorkspace,
  jobsOf,
  useService,
} from '../test/given.ts';
import { claimDue } from './claim.ts';
import { type AttemptResult, recordResults } from './results.ts';

const given = useService();
const success = { status: 200, body: '', error: null, retryAfterMs: 0 };
const failure = { status: 500, body: '', error: 'HTTP 500', retryAfterMs: 0 };
const later = (ms: number) => new Date(given.clock.now.getTime() + ms);

async function givenClaimed(count: number, attempts = 0) {
  const workspaceId = givenWorkspace();
  const { id } = await givenSubscription(given, workspaceId);
  const key = { workspaceId, id };
  await givenDeliveries(given, workspaceId, Array(count).fill({ subscriptionId: id, attempts }));
  const kind = attempts === 0 ? 'first' : 'retry';
  const asks = [{ key, slots: count }];
  const [claim] = await claimDue(given.context.store, kind, asks, given.clock.now);
  const record = (answers: Pick<AttemptResult, 'answer' | 'endedAt'>[], from = 0) =>
    recordResults(
      given.context.store,
      answers.map((each, at) => {
        const { id, attempt } = claim!.deliveries[from + at]!;
        return { key, id, attempt, ...each };
      }),
      given.context,
    );
  return { key, record };
}

test('Retry-After delays the next attempt, at most to six hours', async () => {
  const { key, record } = await givenClaimed(2);
  await record([
    { answer: { ...failure, retryAfterMs: 600_000 }, endedAt: given.clock.now },
    { answer: { ...failure, retryAfterMs: 999_000_000 }, endedAt: given.clock.now },
  ]);
  const rows = await deliveriesOf(given, key.workspaceId);
  const delays = rows.map((row) => row.next_attempt_at!.getTime() - given.clock.now.getTime());
  expect(delays.toSorted((a, b) => a - b)).toEqual([600_000, 6 * 3_600_000]);
  expect((await endpointOf(given, key.id))?.next_wake_at).toEqual(later(600_000));
});

test('the tenth failure is the last', async () => {
  const { key, record } = await givenClaimed(1, 9);
  await record([{ answer: failure, endedAt: given.clock.now }]);
  expect(await deliveriesOf(given, key.workspaceId)).toMatchObject([
    { status: 'failed', attempts: 10, next_attempt_at: null, last_error: 'HTTP 500' },
  ]);
  expect((await endpointOf(given, key.id))?.next_wake_at).toBeNull();
});

test('within a group the order of the attempts decides how many failures are in a row', async () => {
  const { key, record } = await givenClaimed(4);
  await record([
    { answer: failure, endedAt: later(4_000) },
    { answer: failure, endedAt: later(1_000) },
    { answer: success, endedAt: later(2_000) },
    { answer: failure, endedAt: later(3_000) },
  ]);
  expect(await endpointOf(given, key.id)).toMatchObject({
    failures_in_row: 2,
    failing_since: later(3_000),
    last_delivery_at: later(2_000),
    probe_at: null,
  });
});

test('a success closes the circuit, and claims are paced from then on', async () => {
  const { key, record } = await givenClaimed(6);
  await record(Array.from({ length: 5 }, () => ({ answer: failure, endedAt: given.clock.now })));
  const open = await endpointOf(given, key.id);
  const waitMs = open!.probe_at!.getTime() - given.clock.now.getTime();
  expect(waitMs).toBeGreaterThanOrEqual(27_000);
  expect(waitMs).toBeLessThanOrEqual(33_000);
  await record([{ answer: success, endedAt: later(60_000) }], 5);
  expect(await endpointOf(given, key.id)).toMatchObject({
    failures_in_row: 0,
    failing_since: null,
    probe_at: null,
    recovered_at: later(60_000),
    last_delivery_at: later(60_000),
  });
});

test('the run is woken only for a retry that is due before it looks', async () => {
  const { key, record } = await givenClaimed(2);
  await setEndpoint(given, key.id, { next_wake_at: later(10_000) });
  await record([{ answer: failure, endedAt: given.clock.now }]);
  const wakes = (await jobsOf(given, 'wake')) as { key: { id: string } }[];
  expect(wakes.filter((wake) => wake.key.id === key.id)).toEqual([]);
  await setEndpoint(given, key.id, { next_wake_at: later(3_600_000) });
  await record([{ answer: failure, endedAt: given.clock.now }], 1);
  const after = (await jobsOf(given, 'wake')) as { key: { id: string } }[];
  expect(after.filter((wake) => wake.key.id === key.id)).toHaveLength(1);
});

test('results of many endpoints that are recorded at once by several processes do not lock each other out', async () => {
  const claimed = await Promise.all(Array.from({ length: 10 }, () => givenClaimed(20)));
  const groups = Array.from({ length: 20 }, (_, at) =>
    claimed.map(({ record }) => record([{ answer: failure, endedAt: given.clock.now }], at)),
  );
  await Promise.all(groups.flat());
  for (const { key } of claimed) {
    expect(await endpointOf(given, key.id)).toMatchObject({ failures_in_row: 20 });
  }
});
