import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { checkRuns } from '../tasks/check-runs.ts';
import { endpointOf, sendEvents, until } from '../test/deliveries.ts';
import {
  givenService,
  givenSubscription,
  givenWorkspace,
  jobsOf,
  useService,
} from '../test/given.ts';
import { givenEndpoint } from '../test/given-endpoint.ts';
import { deliverRetries } from './retries.ts';

const given = useService();
const aheadMs = 40_000;

/** Another process on the same database, whose clock is ahead. */
function givenAhead() {
  const now = () => new Date(given.clock.now.getTime() + aheadMs);
  return givenService({ store: given.context.store, now });
}

test('a process whose clock is 40 s ahead sends nothing that another one is sending', async () => {
  const held = Promise.withResolvers<number>();
  const endpoint = await givenEndpoint(() => held.promise);
  const workspaceId = givenWorkspace();
  const { id } = await givenSubscription(given, workspaceId, { url: endpoint.url });
  await sendEvents(given, workspaceId, [{ contact: { email: 'a@example.com' } }]);
  await until(() => endpoint.received.length === 1);
  const { context } = await givenAhead();
  await checkRuns(context)();
  expect(await jobsOf(given, 'wake')).toEqual([]);
  const running = deliverRetries(
    context,
    { workspaceId, id },
    {
      until: new Date(context.now().getTime() + 5_000),
      signal: AbortSignal.timeout(3_000),
      heartbeat: () => {},
    },
  );
  await sleep(1_000);
  expect(endpoint.received).toHaveLength(1);
  held.resolve(200);
  await running;
});

test('a retry is due by the clock of the database, whatever the clock of the process that failed', async () => {
  const endpoint = await givenEndpoint(() => 500);
  const workspaceId = givenWorkspace();
  const { id } = await givenSubscription(given, workspaceId, { url: endpoint.url });
  const ahead = await givenAhead();
  await sendEvents(ahead, workspaceId, [{ contact: { email: 'a@example.com' } }]);
  await until(async () => (await endpointOf(given, id))?.failures_in_row === 1);
  await ahead.context.dispatcher.stop();
  const row = await endpointOf(given, id);
  const inMs = (row?.next_wake_at?.getTime() ?? 0) - given.clock.now.getTime();
  expect(inMs).toBeGreaterThan(25_000);
  expect(inMs).toBeLessThan(34_000);
  expect(row?.failing_since).toEqual(given.clock.now);
});
