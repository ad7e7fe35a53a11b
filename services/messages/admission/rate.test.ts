import { expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { useService } from '../test/given.ts';
import { returnPermits, takePermits } from './rate.ts';

const given = useService();

const draws = (integrationId: string) => {
  const key = { workspaceId: 'w1', integrationId, perMinute: 600_000 };
  return {
    key,
    draw: (date: string, wanted: number) => {
      const today = { date, limit: 100, endsAt: new Date() };
      return takePermits(given.store, key, { owner: 'p', wanted, isUrgent: false, today });
    },
  };
};

test("permits of yesterday do not raise today's limit when they come back after midnight", async () => {
  const { key, draw } = draws('midnight');
  const yesterday = await draw('2030-01-01', 100);
  expect(yesterday).toMatchObject({ count: 100, date: '2030-01-01' });
  let today = (await draw('2030-01-02', 60)).count;
  await returnPermits(given.store, key, yesterday.count, yesterday.date);
  for (let round = 0; round < 3; round += 1) today += (await draw('2030-01-02', 100)).count;
  expect(today).toBe(100);
});

test('permits of today may be drawn again when they come back', async () => {
  const { key, draw } = draws('same-day');
  const first = await draw('2030-01-01', 100);
  await returnPermits(given.store, key, 40, first.date);
  expect((await draw('2030-01-01', 100)).count).toBe(40);
});

test('permits count for the day that has begun elsewhere when a process is behind', async () => {
  const { key, draw } = draws('behind');
  await draw('2030-01-02', 10);
  const late = await draw('2030-01-01', 50);
  expect(late.date).toBe('2030-01-02');
  await returnPermits(given.store, key, 50, late.date);
  expect((await draw('2030-01-02', 100)).count).toBe(90);
});

test('a draw waits for no disk', async () => {
  await given.store.fork().transactional(async (em) => {
    await query(em, 'set local synchronous_commit = on', []);
    const store = Object.assign(Object.create(given.store), { fork: () => em });
    const today = { date: '2030-01-01', limit: 100, endsAt: new Date() };
    const key = { workspaceId: 'w1', integrationId: 'no-disk', perMinute: 600 };
    await takePermits(store, key, { owner: 'p', wanted: 1, isUrgent: false, today });
    expect(await query(em, 'show synchronous_commit', [])).toEqual([{ synchronous_commit: 'off' }]);
  });
});
