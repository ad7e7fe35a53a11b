import { beforeEach, expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import {
  givenDeliveries,
  givenSubscription,
  givenWorkspace,
  jobsOf,
  useService,
} from '../test/given.ts';
import { checkRuns } from './check-runs.ts';

const given = useService();
const secondsFromNow = (seconds: number) => new Date(given.clock.now.getTime() + seconds * 1_000);

beforeEach(async () => {
  for (const table of ['deliveries', 'subscriptions', 'webhooks_jobs._private_jobs'])
    await query(given.context.store.fork(), `delete from ${table}`, []);
});

/** In seconds from now. */
type Wish = { retryDueIn: number; wakeIn: number | null; enabled?: boolean };

/** A subscription with a retry, as a process or a run has left it. */
async function givenRetry({ retryDueIn, wakeIn, enabled = true }: Wish) {
  const workspaceId = givenWorkspace();
  const { id } = await givenSubscription(given, workspaceId);
  await givenDeliveries(given, workspaceId, [
    { subscriptionId: id, attempts: 1, createdAt: secondsFromNow(retryDueIn) },
  ]);
  await query(
    given.context.store.fork(),
    'update subscriptions set next_wake_at = $2, enabled = $3 where workspace_id = $1',
    [workspaceId, wakeIn === null ? null : secondsFromNow(wakeIn), enabled],
  );
  return { workspaceId, id };
}

const woken = async () => {
  await checkRuns(given.context)();
  const wakes = (await jobsOf(given, 'wake')) as { key: object }[];
  return wakes.map(({ key }) => key);
};

test('retries that a killed process has left get a run', async () => {
  const left = await givenRetry({ retryDueIn: -10, wakeIn: null });
  const other = await givenRetry({ retryDueIn: -10, wakeIn: null });
  expect(await woken()).toEqual(expect.arrayContaining([left, other]));
});

test('a run that is a minute late is started again', async () => {
  const late = await givenRetry({
    retryDueIn: -90,
    wakeIn: -61,
  });
  expect(await woken()).toEqual([late]);
});

test.each([
  ['an attempt is open', { retryDueIn: 20, wakeIn: null }],
  ['a run waits', { retryDueIn: -90, wakeIn: 600 }],
  ['a run is about to look', { retryDueIn: -9, wakeIn: -9 }],
  ['it is disabled', { retryDueIn: -90, wakeIn: null, enabled: false }],
])('nothing is woken while %s', async (_, wish) => {
  await givenRetry(wish);
  expect(await woken()).toEqual([]);
});
