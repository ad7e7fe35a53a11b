import { expect, test } from '@jest/globals';
import { createLog } from '#lib/log.ts';
import { query } from '#lib/postgres/query.ts';
import { todayOf } from '../admission/warm-up.ts';
import { useService } from '../test/given.ts';
import { ReceiverPermits } from './permits.ts';

const given = useService();
const key = { workspaceId: 'w1', integrationId: 'permits' };
const rename = (from: string, to: string) =>
  query(given.store.fork(), `alter table ${from} rename to ${to}`, []);

test('permits at hand are there for the next try where a draw fails', async () => {
  const google = { perSecond: 1, atOnce: 5 };
  const permits = new ReceiverPermits({
    ...{ store: given.store, log: createLog('messages', 'silent') },
    rates: new Map([['google', google]]),
  });
  const today = todayOf(undefined, new Date());
  const draw = { owner: 'p1', isUrgent: false, today };
  const take = async (count: number) =>
    (await permits.take(key, new Map([['google', count]]), draw)).get('google')?.count ?? 0;
  const all = await take(9);
  expect(all).toBe(9);
  permits.giveBack({ ...key, receiver: 'google' }, { count: all, date: today.date });
  await rename('receiver_rates', 'receiver_rates_away');
  try {
    await expect(take(100)).rejects.toThrow('receiver_rates');
  } finally {
    await rename('receiver_rates_away', 'receiver_rates');
  }
  expect(await take(9)).toBe(9);
  await permits.close();
});
