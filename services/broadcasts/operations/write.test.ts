import { timestampDate } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { beforeEach, expect, test } from '@jest/globals';
import { BroadcastStatus } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { until } from '../../../test/stack/until.ts';
import { Broadcast } from '../broadcast/broadcast.ts';
import { noProviderText } from '../plan/provider.ts';
import { draftContent, givenBroadcast, tested, useService } from '../test/given.ts';

const given = useService();
beforeEach(() => {
  Object.assign(given.peers, { hasTemplate: true, providerId: 'smtp' });
});

const workspaceId = 'acme';

test('create makes a draft that get reads back', async () => {
  const { broadcast } = await given.client.createBroadcast({
    ...draftContent,
    metadata: { campaign: [1, null] },
  });
  expect(broadcast).toMatchObject({
    name: 'Hello',
    channelType: 'email',
    status: BroadcastStatus.DRAFT,
    audience: { list: 'news', segments: [], excludeUnsubscribed: true },
    metadata: { campaign: [1, null] },
  });
  expect(broadcast?.id).toMatch(/^[0-9a-f]{32}$/);
  const read = await given.client.getBroadcast({ workspaceId, id: broadcast?.id ?? '' });
  expect(read.broadcast).toEqual(broadcast);
});

test.each([Code.Unavailable, Code.DeadlineExceeded])(
  'a broadcast is read without its outcomes while messages answers %s',
  async (code) => {
    const key = await givenBroadcast(given, { status: 'testing', test_settings: tested });
    const read = async () => {
      const { broadcast } = await given.client.getBroadcast(key);
      return broadcast?.testSettings?.variations.map(({ metrics }) => metrics?.recipients);
    };
    given.peers.stats = new ConnectError('away', code);
    expect(await read()).toEqual([undefined, undefined]);
    await expect(given.client.getTestResults(key)).rejects.toMatchObject({ code });
    given.peers.stats = [];
    expect(await read()).toEqual([0, 0]);
  },
);

const variations = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ templateId: `t${index}` }));
const abTest = {
  enabled: true,
  samplePercentage: 10,
  autoSendWinner: true,
  autoSendWinnerMetric: 'open_rate',
  testDurationHours: 4,
  variations: variations(2),
};

test.each([
  [{ name: '' }, 'name is required'],
  [{ name: 'a'.repeat(256) }, 'name must be less than 255 characters'],
  [{ audience: undefined }, 'audience is required'],
  [{ audience: { list: '' } }, 'list is required'],
  [
    { testSettings: { variations: [{ templateId: '' }] } },
    'template_id is required for variation 1',
  ],
  [
    { testSettings: { variations: [{ templateId: 'a' }, { templateId: 'b' }] } },
    'exactly 1 variation is allowed without A/B testing',
  ],
  [
    { testSettings: { ...abTest, samplePercentage: 0 } },
    'test sample percentage must be between 1 and 100',
  ],
  [
    { testSettings: { ...abTest, samplePercentage: 101 } },
    'test sample percentage must be between 1 and 100',
  ],
  [
    { testSettings: { ...abTest, variations: [{ templateId: 'a' }] } },
    'at least 2 variations are required for A/B testing',
  ],
  [
    { testSettings: { ...abTest, variations: variations(9) } },
    'maximum 8 variations are allowed for A/B testing',
  ],
  [
    { testSettings: { ...abTest, testDurationHours: 0 } },
    'test duration must be greater than 0 hours when auto winner is enabled',
  ],
  [
    { testSettings: { ...abTest, testDurationHours: 169 } },
    'test duration cannot exceed 168 hours (7 days)',
  ],
  [
    { testSettings: { ...abTest, autoSendWinnerMetric: '' } },
    'auto send winner metric must be specified when auto winner is enabled',
  ],
  [
    { testSettings: { ...abTest, autoSendWinnerMetric: 'luck' } },
    'invalid test winner metric: luck',
  ],
  [
    { testSettings: { ...abTest, variations: [{ templateId: 'a' }, { templateId: 'a' }] } },
    'variation 2 has the template of another one',
  ],
])('create refuses %j', async (change, text) => {
  await expect(given.client.createBroadcast({ ...draftContent, ...change })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: text,
  });
});

test.each([
  [{}, 'scheduled_date and scheduled_time are required when not sending immediately'],
  [
    { scheduledDate: '1.2.2030', scheduledTime: '10:00' },
    'scheduled date must be in YYYY-MM-DD format',
  ],
  [
    { scheduledDate: '2030-02-01', scheduledTime: '10am' },
    'scheduled time must be in HH:MM format',
  ],
  [{ scheduledDate: '2030-13-99', scheduledTime: '10:00' }, 'scheduled date and time do not exist'],
  [
    { scheduledDate: '2030-02-01', scheduledTime: '10:00', timezone: 'Mars' },
    'invalid timezone: Mars',
  ],
  [
    { scheduledDate: '9999-12-31', scheduledTime: '23:59', timezone: 'America/New_York' },
    'scheduled date and time do not exist',
  ],
  [
    { scheduledDate: '2029-12-31', scheduledTime: '10:00' },
    'scheduled time is more than an hour past',
  ],
])('schedule refuses %j', async (time, text) => {
  const key = await givenBroadcast(given);
  await expect(given.client.scheduleBroadcast({ ...key, ...time })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: text,
  });
  expect((await given.client.getBroadcast(key)).broadcast?.status).toBe(BroadcastStatus.DRAFT);
});

test.each([
  ['a template that is gone', { hasTemplate: false }, 'template hello not found'],
  ['no provider', { providerId: '' }, noProviderText],
])('schedule refuses %s', async (_, change, text) => {
  Object.assign(given.peers, change);
  const key = await givenBroadcast(given);
  await expect(given.client.scheduleBroadcast({ ...key, sendNow: true })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: text,
  });
});

test.each([
  ['the zone of the request', { timezone: 'America/New_York' }, '2030-06-01T14:00:00.000Z'],
  ["the workspace's zone", {}, '2030-06-01T08:00:00.000Z'],
])('schedule reads the time in %s', async (_, zone, startsAt) => {
  const key = await givenBroadcast(given);
  await given.client.scheduleBroadcast({
    ...key,
    scheduledDate: '2030-06-01',
    scheduledTime: '10:00',
    ...zone,
  });
  const row = await given.context.store.fork().findOneOrFail(Broadcast, { id: key.id });
  expect(row.starts_at?.toISOString()).toBe(startsAt);
  expect(row.status).toBe('scheduled');
});

test.each([
  ['an hour that is skipped moves forward', '2030-03-31', '02:30', '2030-03-31T01:30:00.000Z'],
  ['an hour that comes twice is its first', '2030-10-27', '02:30', '2030-10-27T00:30:00.000Z'],
])('daylight saving, in UTC: %s', async (_, scheduledDate, scheduledTime, startsAt) => {
  const key = await givenBroadcast(given);
  await given.client.scheduleBroadcast({
    ...key,
    scheduledDate,
    scheduledTime,
    timezone: 'Europe/Paris',
  });
  const { broadcast } = await given.client.getBroadcast(key);
  expect(timestampDate(broadcast!.scheduledAt!).toISOString()).toBe(startsAt);
});

test('a draft has no scheduled_at', async () => {
  const { broadcast } = await given.client.getBroadcast(await givenBroadcast(given));
  expect(broadcast?.scheduledAt).toBeUndefined();
});

test('a time up to an hour past starts at once', async () => {
  const key = await givenBroadcast(given);
  await given.client.scheduleBroadcast({
    ...key,
    scheduledDate: '2030-01-01',
    scheduledTime: '11:01',
    timezone: 'UTC',
  });
  const row = await given.context.store.fork().findOneOrFail(Broadcast, { id: key.id });
  expect(row.starts_at?.toISOString()).toBe('2030-01-01T11:01:00.000Z');
});

test('update moves the start of a scheduled broadcast', async () => {
  const key = await givenBroadcast(given, {
    status: 'scheduled',
    starts_at: new Date('2030-02-01T00:00:00Z'),
  });
  const schedule = {
    isScheduled: true,
    scheduledDate: '2030-03-01',
    scheduledTime: '09:00',
    timezone: 'UTC',
  };
  await given.client.updateBroadcast({ ...draftContent, ...key, schedule });
  const row = await given.context.store.fork().findOneOrFail(Broadcast, { id: key.id });
  expect(row.starts_at?.toISOString()).toBe('2030-03-01T09:00:00.000Z');
});

const scheduled = {
  status: 'scheduled',
  starts_at: new Date('2030-02-01T09:00:00Z'),
  schedule: {
    is_scheduled: true,
    scheduled_date: '2030-02-01',
    scheduled_time: '09:00',
    timezone: 'UTC',
    use_recipient_timezone: false,
  },
} as const;

test.each([
  [{}, '2030-02-01T09:00:00.000Z'],
  [{ scheduledDate: '2030-03-01' }, '2030-03-01T09:00:00.000Z'],
  [{ scheduledTime: '10:30' }, '2030-02-01T10:30:00.000Z'],
  [{ timezone: 'Europe/Paris' }, '2030-02-01T08:00:00.000Z'],
  [{ useRecipientTimezone: true }, '2030-01-31T19:00:00.000Z'],
  [{ isScheduled: true }, '2030-02-01T09:00:00.000Z'],
])('an update with the schedule %j keeps the other parts of it', async (schedule, startsAt) => {
  const key = await givenBroadcast(given, scheduled);
  await given.client.updateBroadcast({ ...draftContent, ...key, schedule });
  const row = await given.context.store.fork().findOneOrFail(Broadcast, { id: key.id });
  expect(row.status).toBe('scheduled');
  expect(row.starts_at?.toISOString()).toBe(startsAt);
  expect(row.schedule.is_scheduled).toBe(true);
});

test.each([{ isScheduled: false }, { scheduledTime: '9am' }, { timezone: 'Mars' }])(
  'an update of a scheduled broadcast refuses the schedule %j and sends nothing',
  async (schedule) => {
    const key = await givenBroadcast(given, scheduled);
    const updating = given.client.updateBroadcast({ ...draftContent, ...key, schedule });
    await expect(updating).rejects.toMatchObject({ code: Code.InvalidArgument });
    const row = await given.context.store.fork().findOneOrFail(Broadcast, { id: key.id });
    expect(row).toMatchObject({ status: 'scheduled', starts_at: scheduled.starts_at });
  },
);

test('a schedule keeps the abbreviation of a zone that it has, and gets no other', async () => {
  const schedule = { ...scheduled.schedule, timezone: 'IST' };
  const key = await givenBroadcast(given, { ...scheduled, schedule });
  const update = (change: object) =>
    given.client.updateBroadcast({ ...draftContent, ...key, schedule: change });
  await update({ scheduledDate: '2030-03-01' });
  await update({ scheduledDate: '2030-03-02', timezone: 'IST' });
  const row = await given.context.store.fork().findOneOrFail(Broadcast, { id: key.id });
  expect(row.starts_at?.toISOString()).toBe('2030-03-02T03:30:00.000Z');
  await expect(update({ timezone: 'BST' })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: expect.stringContaining('invalid timezone: BST'),
  });
});

test('an update of a paused broadcast whose time has passed takes the schedule it already has', async () => {
  const starts_at = new Date('2029-12-01T09:00:00Z');
  const schedule = { ...scheduled.schedule, scheduled_date: '2029-12-01' };
  const wish = { status: 'paused', paused_from: 'scheduled', starts_at, schedule } as const;
  const key = await givenBroadcast(given, wish);
  await given.client.updateBroadcast({ ...draftContent, ...key, schedule: {} });
  const row = await given.context.store.fork().findOneOrFail(Broadcast, { id: key.id });
  expect(row).toMatchObject({ status: 'paused', starts_at });
});

test("an update of a draft that names a time and no zone takes the workspace's zone", async () => {
  const key = await givenBroadcast(given);
  const schedule = { scheduledDate: '2030-03-01', scheduledTime: '09:00' };
  await given.client.updateBroadcast({ ...draftContent, ...key, schedule });
  const { broadcast } = await given.client.getBroadcast(key);
  expect(broadcast?.schedule).toMatchObject({ isScheduled: true, timezone: 'Europe/Paris' });
});

test.each([
  ['a fraction', { samplePercent: 12.5 }, 12.5, 12],
  ['a whole number', { samplePercent: 20 }, 20, 20],
  ['a client generated before fractions', { samplePercentage: 25 }, 25, 25],
])('the sample may be %s of the audience', async (_name, share, exact, whole) => {
  const { samplePercentage: _, ...rest } = abTest;
  const testSettings = { ...rest, ...share };
  const { broadcast } = await given.client.createBroadcast({ ...draftContent, testSettings });
  expect(broadcast?.testSettings).toMatchObject({
    samplePercent: exact,
    samplePercentage: whole,
  });
});

test.each([1e300, -1e300, 100.5, -1, Number.NaN, Number.POSITIVE_INFINITY])(
  'a sample of %d percent is refused without a test, too, and every broadcast can still be read',
  async (samplePercent) => {
    const { samplePercentage: _, ...rest } = abTest;
    const testSettings = { ...rest, enabled: false, variations: [], samplePercent };
    await expect(
      given.client.createBroadcast({ ...draftContent, testSettings }),
    ).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: 'test sample percentage must be between 0 and 100',
    });
    await given.client.listBroadcasts({ workspaceId: draftContent.workspaceId });
  },
);

test('list filters by status, pages, and counts all', async () => {
  const other = { ...draftContent, workspaceId: 'lists' };
  for (const name of ['one', 'two', 'three']) {
    given.clock.now = new Date(given.clock.now.getTime() + 1000);
    await given.client.createBroadcast({ ...other, name });
  }
  const page = await given.client.listBroadcasts({ workspaceId: 'lists', limit: 2, offset: 1 });
  expect(page.broadcasts.map(({ name }) => name)).toEqual(['two', 'one']);
  expect(page.totalCount).toBe(3);
  const sent = await given.client.listBroadcasts({
    workspaceId: 'lists',
    status: BroadcastStatus.SENT,
  });
  expect(sent).toMatchObject({ broadcasts: [], totalCount: 0 });
  const refused = given.client.listBroadcasts({ workspaceId: 'lists', limit: 1_001 });
  await expect(refused).rejects.toMatchObject({ rawMessage: 'limit must be between 1 and 1000' });
});

test('a page has up to 1,000 broadcasts, each with its numbers, and 100 with templates', async () => {
  const ids = Array.from({ length: 205 }, (_, at) => `page${at}`);
  const em = given.context.store.fork();
  for (const id of ids) await givenBroadcast(given, { id, status: 'sending' });
  await em.nativeUpdate(Broadcast, { id: { $in: ids } }, { workspace_id: 'paged' });
  given.peers.stats = [{ templateId: 'hello', sent: 3 }];
  const page = { workspaceId: 'paged', limit: 1_000 };
  const { broadcasts, totalCount } = await given.client.listBroadcasts(page);
  expect([broadcasts.length, totalCount]).toEqual([205, 205]);
  const counted = broadcasts.filter(
    ({ testSettings }) => testSettings?.variations[0]?.metrics?.recipients === 3,
  );
  expect(counted).toHaveLength(205);
  const cut = await given.client.listBroadcasts({ ...page, withTemplates: true });
  expect([cut.broadcasts.length, cut.totalCount]).toEqual([100, 205]);
});

test('a broadcast shows the times of its transitions', async () => {
  const key = await givenBroadcast(given);
  await given.client.scheduleBroadcast({ ...key, sendNow: true });
  await given.client.pauseBroadcast(key);
  const { broadcast } = await given.client.getBroadcast(key);
  expect(broadcast?.pausedAt && timestampDate(broadcast.pausedAt)).toEqual(given.clock.now);
  expect(broadcast?.startedAt && timestampDate(broadcast.startedAt)).toEqual(given.clock.now);
});

/** A count that began with the call may have missed its broadcast. */
const untilCounted = (workspaceId: string) =>
  until('the broadcast is counted', async () => {
    // Fails while another count of the workspace goes on.
    const count = await given.context.quotas.countNow(workspaceId, 'broadcasts').catch(() => {});
    return count?.used === 1 && count.quota === 1;
  });

test('a broadcast beyond the quota of broadcasts is refused, new or as a copy', async () => {
  given.quotas.broadcasts = 1n;
  const workspaceId = 'full';
  const { broadcast } = await given.client.createBroadcast({ ...draftContent, workspaceId });
  await untilCounted(workspaceId);
  const refused = {
    code: Code.ResourceExhausted,
    rawMessage: expect.stringContaining('has 1 of at most 1 broadcasts'),
  };
  const another = given.client.createBroadcast({ ...draftContent, workspaceId });
  await expect(another).rejects.toMatchObject(refused);
  const copy = given.client.duplicateBroadcast({ workspaceId, id: broadcast?.id ?? '' });
  await expect(copy).rejects.toMatchObject(refused);
  delete given.quotas.broadcasts;
});

test('a repeat with its Idempotency-Key gets the first answer also at the quota', async () => {
  given.quotas.broadcasts = 1n;
  const workspaceId = 'repeated';
  const client = given.withHeaders({ 'idempotency-key': 'once' });
  const { broadcast } = await client.createBroadcast({ ...draftContent, workspaceId });
  await untilCounted(workspaceId);
  const again = await client.createBroadcast({ ...draftContent, workspaceId });
  expect(again.broadcast?.id).toBe(broadcast?.id);
  delete given.quotas.broadcasts;
});
