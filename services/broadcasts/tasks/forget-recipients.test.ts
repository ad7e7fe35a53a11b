import { beforeEach, expect, test } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { query } from '#lib/postgres/query.ts';
import { failBroadcast } from '../activities/fail-broadcast.ts';
import { finish } from '../activities/finish.ts';
import { freezeAudience } from '../activities/freeze-audience.ts';
import { operate } from '../activities/operate.ts';
import { pauseBySystem } from '../activities/pause-by-system.ts';
import { sendSlice } from '../activities/send-slice.ts';
import type { BroadcastKey } from '../broadcast/broadcast.ts';
import { givenBroadcast, useService } from '../test/given.ts';
import { forgetRecipients } from './forget-recipients.ts';

const given = useService();
beforeEach(() =>
  query(given.context.store.fork(), 'delete from broadcasts_jobs._private_jobs', []),
);

async function givenFrozen(): Promise<BroadcastKey> {
  const key = await givenBroadcast(given, { status: 'sending' });
  await run(() => freezeAudience(given.context)(key));
  return key;
}

const run = <Result>(work: () => Promise<Result>) => new MockActivityEnvironment().run(work);

/** Runs the queued jobs and returns how many addresses are left. */
async function leftOf({ workspaceId, id }: BroadcastKey): Promise<number> {
  const em = given.context.store.fork();
  const jobs = await query<{ payload: BroadcastKey }>(
    em,
    `select payload from broadcasts_jobs._private_jobs job
     join broadcasts_jobs._private_tasks task on task.id = job.task_id
     where task.identifier = 'forgetRecipients'`,
    [],
  );
  for (const { payload } of jobs) await forgetRecipients(given.context)(payload);
  const [row] = await query<{ count: number }>(
    em,
    `select coalesce(sum(cardinality(emails)), 0)::int as count from slices
     where workspace_id = $1 and broadcast_id = $2`,
    [workspaceId, id],
  );
  return row?.count ?? -1;
}

test('the addresses of a sent broadcast are deleted, and its counts stay', async () => {
  const [key, other] = [await givenFrozen(), await givenFrozen()];
  await run(() => sendSlice(given.context)({ ...key, slice: 0 }));
  expect(await leftOf(key)).toBe(3);
  await finish(given.context)(key);
  expect(await leftOf(key)).toBe(0);
  expect(await leftOf(other)).toBe(3);
  const { broadcast } = await given.client.getBroadcast(key);
  expect(broadcast).toMatchObject({ enqueuedCount: 3, sentCount: 3 });
});

test.each([
  ['cancelled', (key: BroadcastKey) => given.client.cancelBroadcast(key)],
  ['cancelled by an operator', (key: BroadcastKey) => operate(given.context)(key, 'cancel')],
  ['failed', (key: BroadcastKey) => failBroadcast(given.context)(key, 'its template is gone')],
])('the addresses of a broadcast that is %s are forgotten', async (_how, end) => {
  const key = await givenFrozen();
  await end(key);
  expect(await leftOf(key)).toBe(0);
});

test('a paused broadcast keeps its addresses', async () => {
  const key = await givenFrozen();
  await pauseBySystem(given.context)(key, 'the mail server is away', 'outage');
  expect(await leftOf(key)).toBe(3);
});

test('addresses are deleted over several statements', async () => {
  const key = { workspaceId: 'acme', id: 'large' };
  await query(
    given.context.store.fork(),
    `insert into slices (workspace_id, broadcast_id, number, size, emails)
     select 'acme', 'large', n, 1, array[n || '@example.com'] from generate_series(0, 1_000) n`,
    [],
  );
  expect(await leftOf(key)).toBe(1_001);
  await forgetRecipients(given.context)(key);
  expect(await leftOf(key)).toBe(0);
});
