import { expect, test } from '@jest/globals';
import { createLog } from '#lib/log.ts';
import { query } from '#lib/postgres/query.ts';
import { useService } from '../test/given.ts';
import { LeasedPermits } from './leased-permits.ts';
import { todayOf } from './warm-up.ts';

const given = useService();

async function tokensOf(integrationId: string): Promise<number> {
  const [row] = await query<{ tokens: number }>(
    given.store.fork(),
    'select tokens from sending_rates where integration_id = $1',
    [integrationId],
  );
  return row?.tokens ?? Number.NaN;
}

const log = createLog('messages', 'silent');
const drawOf = (wanted: number) => ({
  owner: crypto.randomUUID(),
  wanted,
  isUrgent: true,
  today: todayOf(undefined, new Date()),
});

test('permits for single messages are drawn ahead, and what is not used goes back', async () => {
  const permits = new LeasedPermits({ store: given.store, log }, 60_000);
  const rate = { workspaceId: 'w1', integrationId: crypto.randomUUID(), perMinute: 60_000 };
  expect(await permits.take(rate, drawOf(1))).toMatchObject({ count: 1 });
  const left = await tokensOf(rate.integrationId);
  expect(left).toBe(1_000 - 101);
  for (let taken = 0; taken < 100; taken += 1) await permits.take(rate, drawOf(1));
  expect(await tokensOf(rate.integrationId)).toBe(left);
  await permits.take(rate, drawOf(1));
  const before = await tokensOf(rate.integrationId);
  // The store may be closed next.
  await permits.close();
  expect(await tokensOf(rate.integrationId)).toBeGreaterThan(before);
});

async function drawnOf(integrationId: string): Promise<number | undefined> {
  const [row] = await query<{ day_count: number }>(
    given.store.fork(),
    'select day_count from sending_rates where integration_id = $1',
    [integrationId],
  );
  return row?.day_count;
}

test('of a low rate, and of a limit of the day, no more is drawn than is needed', async () => {
  const permits = new LeasedPermits({ store: given.store, log }, 60_000);
  const slow = { workspaceId: 'w1', integrationId: crypto.randomUUID(), perMinute: 300 };
  expect(await permits.take(slow, drawOf(3))).toMatchObject({ count: 3 });
  expect(await drawnOf(slow.integrationId)).toBe(3);
  const fast = { workspaceId: 'w1', integrationId: crypto.randomUUID(), perMinute: 60_000 };
  const today = { ...drawOf(2).today, limit: 5 };
  expect(await permits.take(fast, { ...drawOf(2), today })).toMatchObject({ count: 2 });
  expect(await drawnOf(fast.integrationId)).toBe(2);
  await permits.close();
});
