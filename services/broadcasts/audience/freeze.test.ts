import { beforeEach, expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { freezeAudience } from '../activities/freeze-audience.ts';
import type { BroadcastKey } from '../broadcast/broadcast.ts';
import type { Schedule } from '../broadcast/row.ts';
import { givenBroadcast, tested, useService } from '../test/given.ts';
import { allSent } from '../test/given-peers.ts';
import { playSteps, runActivity } from '../test/play.ts';

const given = useService();
/** Recipients in the order of sending, with time and list. */
let sent: [email: string, at: string, listId: string][];
beforeEach(() => {
  sent = [];
  given.clock.now = new Date('2030-03-01T00:00:00Z');
  given.neighbours.listOf = () => 0;
  given.neighbours.ratePerMinute = 600_000;
  given.neighbours.sendBatch = (request) => {
    const at = given.clock.now.toISOString().slice(0, 16);
    for (const email of request.emails) sent.push([email, at, request.plan?.listId ?? '']);
    return allSent(request);
  };
});

const zones: Record<string, string> = {
  alofi: 'Pacific/Niue',
  kiritimati: 'Pacific/Kiritimati',
  mars: 'Mars/Olympus_Mons',
  newyork: 'America/New_York',
  nowhere: '',
  paris: 'Europe/Paris',
};

/**
 * Plays a broadcast in the recipients' own zones until it ends; the clock jumps to each time that
 * it waits for.
 */
async function playZones(local: Partial<Schedule>, more: { test_settings?: typeof tested } = {}) {
  given.neighbours.audience = Object.keys(zones);
  given.neighbours.zoneOf = (email) => zones[email] ?? '';
  const key = await givenBroadcast(given, { status: 'draft', ...more });
  await given.client.scheduleBroadcast({
    ...key,
    scheduledDate: local.scheduled_date ?? '2030-03-01',
    scheduledTime: local.scheduled_time ?? '09:00',
    timezone: local.timezone ?? 'Europe/Paris',
    useRecipientTimezone: true,
  });
  for (;;) {
    const step = await playSteps(given, key);
    if (step.do !== 'wait' || step.untilMs === null) return step;
    given.clock.now = new Date(step.untilMs);
  }
}

const timesOf = () => Object.fromEntries(sent.map(([email, at]) => [email, at]));

test("each zone gets it at its own local time, from +14 to -11, and who has none or an unknown one at the schedule's", async () => {
  given.clock.now = new Date('2030-02-20T00:00:00Z');
  expect(await playZones({})).toEqual({ do: 'end' });
  expect(timesOf()).toEqual({
    kiritimati: '2030-02-28T19:00',
    mars: '2030-03-01T08:00',
    nowhere: '2030-03-01T08:00',
    paris: '2030-03-01T08:00',
    newyork: '2030-03-01T14:00',
    alofi: '2030-03-01T20:00',
  });
  expect(sent).toHaveLength(6);
});

test('a zone whose time has passed gets the broadcast at once, and no zone gets it early', async () => {
  given.clock.now = new Date('2030-03-01T08:30:00Z');
  await playZones({});
  expect(timesOf()).toMatchObject({
    kiritimati: '2030-03-01T08:30',
    paris: '2030-03-01T08:30',
    newyork: '2030-03-01T14:00',
    alofi: '2030-03-01T20:00',
  });
});

test.each([
  [
    'an hour that Paris skips moves forward there',
    '2030-03-31',
    '2030-03-31T01:30',
    '2030-03-31T06:30',
  ],
  [
    'an hour that Paris has twice is the first',
    '2030-10-27',
    '2030-10-27T00:30',
    '2030-10-27T06:30',
  ],
  [
    'an hour that New York skips moves forward there',
    '2030-03-10',
    '2030-03-10T01:30',
    '2030-03-10T07:30',
  ],
  ['a leap day is a day', '2032-02-29', '2032-02-29T01:30', '2032-02-29T07:30'],
])('daylight saving of recipients: %s', async (_, scheduled_date, paris, newyork) => {
  await playZones({ scheduled_date, scheduled_time: '02:30' });
  expect(timesOf()).toMatchObject({ paris, newyork });
  expect(sent).toHaveLength(6);
});

test("a test's sample goes at the start, the rest by zone", async () => {
  given.clock.now = new Date('2030-02-28T18:00:00Z');
  const end = await playZones({}, { test_settings: { ...tested, test_duration_hours: 1 } });
  expect(end).toEqual({ do: 'end' });
  const starts = sent.filter(([, at]) => at === '2030-02-28T19:00');
  expect(starts).toHaveLength(3);
  const rest = sent.slice(3).map(([email, at]) => [zones[email], at]);
  const own: Record<string, string> = {
    'Pacific/Kiritimati': '2030-02-28T20:00',
    'America/New_York': '2030-03-01T14:00',
    'Pacific/Niue': '2030-03-01T20:00',
  };
  for (const [zone = '', at] of rest) expect(at).toBe(own[zone] ?? '2030-03-01T08:00');
  expect(new Set(sent.map(([email]) => email)).size).toBe(6);
});

test('a pause keeps the times that are still ahead', async () => {
  given.neighbours.audience = ['newyork', 'paris'];
  given.neighbours.zoneOf = (email) => zones[email] ?? '';
  const key = await givenBroadcast(given, {
    status: 'sending',
    starts_at: given.clock.now,
    schedule: {
      is_scheduled: true,
      scheduled_date: '2030-03-01',
      scheduled_time: '09:00',
      timezone: 'UTC',
      use_recipient_timezone: true,
    },
  });
  given.clock.now = new Date('2030-03-01T08:00:00Z');
  const untilMs = Date.parse('2030-03-01T14:00:00Z');
  expect(await playSteps(given, key)).toEqual({ do: 'wait', untilMs });
  await given.client.pauseBroadcast(key);
  expect(await playSteps(given, key)).toEqual({ do: 'wait', untilMs: null });
  await given.client.resumeBroadcast(key);
  expect(await playSteps(given, key)).toEqual({ do: 'wait', untilMs });
  expect(timesOf()).toEqual({ paris: '2030-03-01T08:00' });
});

test('a contact in several lists gets one message, through the first of them', async () => {
  given.neighbours.audience = ['a', 'b', 'c', 'd', 'e'];
  given.neighbours.listOf = (email) => (email < 'c' ? 1 : 0);
  const key = await givenBroadcast(given, {
    status: 'sending',
    further_lists: ['offers'],
    test_settings: undefined,
  });
  expect(await playSteps(given, key)).toEqual({ do: 'end' });
  expect(sent.map(([email, , listId]) => [email, listId]).toSorted()).toEqual([
    ['a', 'offers'],
    ['b', 'offers'],
    ['c', 'news'],
    ['d', 'news'],
    ['e', 'news'],
  ]);
  const { broadcast } = await given.client.getBroadcast(key);
  expect(broadcast).toMatchObject({ enqueuedCount: 5, audience: { furtherLists: ['offers'] } });
});

/** The addresses of each slice, by its number. */
async function slicesOf({ id }: { id: string }): Promise<string[][]> {
  const rows = await query<{ emails: string[]; size: number }>(
    given.context.store.fork(),
    'select emails, size from slices where broadcast_id = $1 order by number',
    [id],
  );
  for (const { emails, size } of rows) expect(emails).toHaveLength(size);
  return rows.map(({ emails }) => emails);
}

async function freezeAll(key: BroadcastKey): Promise<void> {
  while ((await runActivity(() => freezeAudience(given.context)(key))).hasMore);
}

const crowd = Array.from({ length: 25_001 }, (_, n) => `p${String(n).padStart(5, '0')}`);

test('everybody on several pages is in one slice, and all slices but the last are full', async () => {
  given.neighbours.audience = crowd;
  given.neighbours.ratePerMinute = 3_300;
  const key = await givenBroadcast(given, { status: 'sending' });
  await freezeAll(key);
  const slices = await slicesOf(key);
  expect(slices.flat()).toEqual(crowd);
  expect(slices.map(({ length }) => length)).toEqual([...Array(7).fill(3_300), 1_901]);
});

test('several pages of several lists are cut by list, and the parts are deleted', async () => {
  given.neighbours.audience = crowd;
  given.neighbours.listOf = (email) => (email.endsWith('7') ? 1 : 0);
  const key = await givenBroadcast(given, { status: 'sending', further_lists: ['offers'] });
  await freezeAll(key);
  const slices = await slicesOf(key);
  expect(slices.map(({ length }) => length)).toEqual([5_000, 5_000, 5_000, 5_000, 2_501, 2_500]);
  expect(slices[5]).toEqual(crowd.filter((email) => email.endsWith('7')));
  expect(slices.flat().toSorted()).toEqual(crowd);
  expect(await query(given.context.store.fork(), 'select * from audience_parts', [])).toEqual([]);
});

test('slices of several lists are sent in turn', async () => {
  given.neighbours.audience = crowd;
  given.neighbours.listOf = (email) => (email.endsWith('7') ? 1 : 0);
  const key = await givenBroadcast(given, { status: 'sending', further_lists: ['offers'] });
  await playSteps(given, key);
  const turns = sent
    .map(([, , listId]) => listId)
    .filter((listId, n, all) => listId !== all[n - 1]);
  expect(turns).toEqual(['news', 'offers', 'news']);
});

test('the next page is read while a page is written, and none after it', async () => {
  const { audience, ...context } = given.context;
  let calls = 0;
  const third = Promise.withResolvers<void>();
  const listAudience: typeof audience.listAudience = async (request) => {
    calls += 1;
    if (calls === 3) third.resolve();
    return audience.listAudience(request);
  };
  given.neighbours.audience = Array.from(
    { length: 45_001 },
    (_, n) => `p${String(n).padStart(5, '0')}`,
  );
  const key = await givenBroadcast(given, { status: 'sending' });
  const freeze = freezeAudience({ ...context, audience: { ...audience, listAudience } });
  await runActivity(() => freeze(key));
  const frozen = await given.context.store.fork().transactional(async (em) => {
    await query(em, 'lock table slices in share mode', []);
    const freezing = runActivity(() => freeze(key));
    await third.promise;
    await new Promise(setImmediate);
    expect(calls).toBe(3);
    return { freezing };
  });
  await frozen.freezing;
  expect((await slicesOf(key)).flat()).toEqual(given.neighbours.audience);
});

test('a list that is named twice or does not exist is refused by its field', async () => {
  const draft = {
    workspaceId: 'acme',
    name: 'Two',
    testSettings: { variations: [{ templateId: 'hello' }] },
  };
  const create = (furtherLists: string[]) =>
    given.client.createBroadcast({ ...draft, audience: { list: 'news', furtherLists } });
  await expect(create(['news'])).rejects.toThrow('a list is named twice');
  await expect(create(['a', 'a'])).rejects.toThrow(/unique/);
  const { broadcast } = await create(['offers', 'missing']);
  const id = broadcast?.id ?? '';
  const scheduled = given.client.scheduleBroadcast({ workspaceId: 'acme', id, sendNow: true });
  await expect(scheduled).rejects.toThrow('list missing not found');
});
