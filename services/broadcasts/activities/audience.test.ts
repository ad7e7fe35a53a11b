import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Schedule } from '../broadcast-settings.ts';
import { allSent, type Given, givenBroadcast, givenService, tested } from '../test/given.ts';
import { playSteps } from '../test/play.ts';

let given: Given;
/** Who was sent to, with the time and the list. */
let sent: [email: string, at: string, listId: string][];
beforeAll(async () => {
  given = await givenService();
});
afterAll(() => given.context.store.close());
beforeEach(() => {
  sent = [];
  given.clock.now = new Date('2030-03-01T00:00:00Z');
  given.neighbours.listOf = () => 0;
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

/** Scheduled for a local time with everybody's own zone, and played until it ends; the clock goes to whatever it waits for. */
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

test('a zone whose time has passed at the start gets it at once, and none gets it early', async () => {
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

test('who is in several lists gets one message, through the first of them', async () => {
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
