import { expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { useService } from '../test/given.ts';
import { drawReceiverPermits, findSlowed, returnReceiverPermits, slowReceiver } from './rate.ts';

const given = useService();

const minuteMs = 60_000;
const today = { date: '2030-01-01', limit: undefined, endsAt: new Date() };

function givenGroup(perSecond: number) {
  const key = { workspaceId: 'w1', integrationId: crypto.randomUUID() };
  const receiver = 'google';
  const draw = async (
    wanted: number,
    { isUrgent = true, limit = undefined as number | undefined } = {},
  ) => {
    const wishes = [{ receiver, wanted, perSecond, isNamed: true }];
    const horizonMs = 60 * minuteMs;
    const asked = { wishes, owner: 'p', isUrgent, today: { ...today, limit }, horizonMs };
    const grant = (await drawReceiverPermits(given.store, key, asked)).get(receiver);
    if (!grant) throw new Error('no grant');
    return grant;
  };
  /** As if the minutes had passed. */
  const pass = (minutes: number) =>
    query(
      given.store.fork(),
      `update receiver_rates set updated_at = updated_at - $2::float8 * interval '1 minute',
         queue_until = queue_until - $2::float8 * interval '1 minute',
         slowed_at = slowed_at - $2::float8 * interval '1 minute',
         eases_at = eases_at - $2::float8 * interval '1 minute' where integration_id = $1`,
      [key.integrationId, minutes],
    );
  const slow = (begunMsAgo = 0, forMs = 30 * minuteMs) =>
    slowReceiver(given.store, { ...key, receiver }, { perSecond, forMs, begunMsAgo });
  return { key, draw, pass, slow };
}

test('turns of what a group does not give follow each other at its rate', async () => {
  const { draw } = givenGroup(2);
  const first = await draw(20 + 60);
  expect(first).toMatchObject({ count: 20, isSlowed: false });
  expect(first.turns.fromMs).toBeLessThan(1_500);
  expect(first.turns.untilMs).toBeGreaterThan(29_000);
  expect(first.turns.untilMs).toBeLessThan(32_000);
  const second = await draw(60);
  expect(second.turns.fromMs).toBeGreaterThan(28_000);
  expect(second.turns.untilMs).toBeLessThan(62_000);
});

test('mail that is queued for long is queued no further than twice the longest wait', async () => {
  const { draw } = givenGroup(1);
  await draw(100_000);
  expect((await draw(100_000)).turns.untilMs).toBeLessThanOrEqual(2 * 60 * minuteMs);
});

test('bulk mail leaves a tenth to urgent mail', async () => {
  const { draw } = givenGroup(10);
  expect((await draw(200, { isUrgent: false })).count).toBe(90);
  expect((await draw(200)).count).toBeGreaterThanOrEqual(10);
});

test('a slowed group gets nothing at once, then a tenth, at least one a minute', async () => {
  const { draw, pass, slow, key } = givenGroup(1 / 30);
  await draw(0);
  expect(await slow()).toBe(true);
  expect(await draw(5)).toMatchObject({ count: 0, isSlowed: true });
  await pass(1.01);
  expect((await draw(5)).count).toBe(1);
  expect(await findSlowed(given.store, key)).toEqual(new Set(['google']));
});

test('a rate that is lowered again and again is whole again in the end, by doubling', async () => {
  const { draw, pass, slow, key } = givenGroup(100);
  for (let times = 0; times < 8; times += 1) {
    expect(await slow()).toBe(true);
    await pass(1);
  }
  await pass(29.5);
  await draw(0);
  // From a sixth of a thousandth: thirteen steps of ten minutes.
  await pass(11 * 10);
  expect(await draw(2_000)).toMatchObject({ isSlowed: true });
  await pass(2 * 10);
  expect(await draw(2_000)).toMatchObject({ count: 1_000, isSlowed: false });
  expect(await findSlowed(given.store, key)).toEqual(new Set());
  await pass(60 * 24 * 365);
  expect(await draw(2_000)).toMatchObject({ count: 1_000, isSlowed: false });
});

test('a reply to mail from before the rate fell does not lower it, however late it comes', async () => {
  const { draw, pass, slow } = givenGroup(10);
  expect(await slow()).toBe(true);
  expect(await slow(1_000)).toBe(false);
  await pass(30 + 4 * 10);
  expect(await draw(100)).toMatchObject({ count: 100, isSlowed: false });
  expect(await slow(75 * minuteMs)).toBe(false);
  expect(await draw(1)).toMatchObject({ isSlowed: false });
  expect(await slow(minuteMs)).toBe(true);
});

test('an integration has rows of 2,000 groups at most', async () => {
  const key = { workspaceId: 'w1', integrationId: crypto.randomUUID() };
  await query(
    given.store.fork(),
    `insert into receiver_rates (workspace_id, integration_id, receiver, per_second, tokens, granted, refused, day,
       day_count, replicas, updated_at)
     select 'w1', $1, 'd' || number, 1, 0, 0, 0, 'epoch', 0, '{}', now() from generate_series(1, 2000) number`,
    [key.integrationId],
  );
  const about = { perSecond: 1, forMs: minuteMs, begunMsAgo: 0 };
  expect(await slowReceiver(given.store, { ...key, receiver: 'one-more' }, about)).toBe(false);
  expect(await slowReceiver(given.store, { ...key, receiver: 'd7' }, about)).toBe(true);
});

async function rowsOf({ integrationId }: { integrationId: string }) {
  const rows = await query<{ receiver: string; day_count: number }>(
    given.store.fork(),
    'select receiver, day_count from receiver_rates where integration_id = $1',
    [integrationId],
  );
  return new Map(rows.map(({ receiver, day_count: count }) => [receiver, count]));
}

test('domains beyond 2,000 of an integration share one row, and groups of a table have their own', async () => {
  const key = { workspaceId: 'w1', integrationId: crypto.randomUUID() };
  const draw = (receivers: string[], isNamed = false) => {
    const wishes = receivers.map((receiver) => ({ receiver, wanted: 1, perSecond: 1, isNamed }));
    const asked = { wishes, owner: 'p', isUrgent: true, today: { ...today, limit: 20 } };
    return drawReceiverPermits(given.store, key, { ...asked, horizonMs: 60 * minuteMs });
  };
  const domains = Array.from({ length: 2_040 }, (_, place) => `d${place}.example`);
  const grants = await draw(domains);
  expect((await rowsOf(key)).size).toBe(2_001);
  const shared = [...grants.values()].filter(({ group }) => group === 'other');
  expect(shared).toHaveLength(40);
  // Ten seconds' worth, and then a turn each.
  expect(shared.filter(({ count }) => count === 1)).toHaveLength(10);
  const turns = shared.filter(({ count }) => count === 0).map(({ turns }) => turns.untilMs);
  expect(new Set(turns).size).toBe(30);
  expect(Math.max(...turns)).toBeGreaterThan(28_000);
  expect(Math.max(...turns)).toBeLessThan(32_000);
  await draw(['one-more.example', 'd0.example']);
  await draw(['google'], true);
  const rows = await rowsOf(key);
  expect(rows.size).toBe(2_002);
  expect(rows.get('d0.example')).toBe(2);
  expect(rows.get('google')).toBe(1);
  const unused = { count: 4, date: today.date };
  await returnReceiverPermits(given.store, { ...key, receiver: 'one-more.example' }, unused);
  expect((await rowsOf(key)).get('other')).toBe((rows.get('other') ?? 0) - 4);
});

test('a group gets no more on a day than its limit', async () => {
  const { draw } = givenGroup(10);
  expect(await draw(30, { limit: 20 })).toMatchObject({ count: 20, isDaySpent: true });
  expect(await draw(30, { limit: 20 })).toMatchObject({ count: 0, isDaySpent: true });
});

test('draws of several groups at once by several processes do not wait for each other in a ring', async () => {
  const key = { workspaceId: 'w1', integrationId: crypto.randomUUID() };
  const receivers = Array.from({ length: 30 }, (_, place) => `d${place}.example`);
  const draws = Array.from({ length: 40 }, (_, place) => {
    const wishes = receivers.map((receiver) => ({
      receiver,
      wanted: 2,
      perSecond: 1,
      isNamed: false,
    }));
    const inAnOrder = place % 2 === 0 ? wishes : wishes.toReversed();
    const asked = { wishes: inAnOrder, owner: `p${place}`, isUrgent: true, today };
    return drawReceiverPermits(given.store, key, { ...asked, horizonMs: minuteMs });
  });
  const all = await Promise.all(draws);
  for (const receiver of receivers) {
    const sum = all.reduce((total, each) => total + (each.get(receiver)?.count ?? 0), 0);
    expect(sum).toBeGreaterThanOrEqual(10);
    expect(sum).toBeLessThan(20);
  }
});
