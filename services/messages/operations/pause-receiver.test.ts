import { timestampDate } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { resetAfterEach, useService } from '../test/given.ts';

const given = useService();
resetAfterEach(given);
beforeEach(() => {
  given.world.isDirect = true;
});
afterEach(async () => {
  await query(given.store.fork(), 'delete from receiver_pauses', []);
});

const place = { workspaceId: 'w1', integrationId: 'smtp-1' };
const hour = 3_600;
const listed = async () =>
  (await given.receivers.listPausedReceivers(place)).paused.map(({ receiver }) => receiver);

test('a group is paused until its time, a repeat sets another time, and it is resumed', async () => {
  const pauseFor = async (receiver: string, forSeconds: number) => {
    const { paused } = await given.receivers.pauseReceiver({ ...place, receiver, forSeconds });
    const { until, pausedAt } = paused ?? {};
    if (!until || !pausedAt) throw new Error('the pause has no times');
    return (timestampDate(until).getTime() - timestampDate(pausedAt).getTime()) / 1_000;
  };
  expect(await pauseFor('google', hour)).toBe(hour);
  await pauseFor('firm.example', hour);
  expect(await pauseFor('google', 60)).toBe(60);
  const { paused: all } = await given.receivers.listPausedReceivers(place);
  expect(all.map(({ receiver }) => receiver)).toEqual(['firm.example', 'google']);
  const [firm, google] = all.map(({ until }) => Number(until?.seconds));
  expect((firm ?? 0) - (google ?? 0)).toBeGreaterThan(hour - 120);
  const other = { ...place, integrationId: 'smtp-2' };
  expect((await given.receivers.listPausedReceivers(other)).paused).toEqual([]);
  for (let count = 0; count < 2; count += 1) {
    const resumed = given.receivers.resumeReceiver({ ...place, receiver: 'google' });
    expect(await resumed).toMatchObject({ success: true });
    expect(await listed()).toEqual(['firm.example']);
  }
});

test.each([
  ['no time', { forSeconds: 0 }, 'for_seconds must be between 60 and 259200'],
  ['a time that is over', { forSeconds: -60 }, 'for_seconds must be between 60 and 259200'],
  ['more than three days', { forSeconds: 259_201 }, 'for_seconds must be between 60 and 259200'],
  ['no group', { receiver: '' }, 'receiver is required'],
  ['an address', { receiver: 'ann@example.com' }, /^receiver must be the name of a group/],
  ['a name of 254 characters', { receiver: 'a'.repeat(254) }, /^receiver must be the name/],
])('a pause with %s is refused', async (_, wrong, rawMessage) => {
  const request = { ...place, receiver: 'google', forSeconds: hour, ...wrong };
  await expect(given.receivers.pauseReceiver(request)).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: expect.stringMatching(rawMessage),
  });
  expect(await listed()).toEqual([]);
});

test.each([
  ['gmail.com', 'google'],
  ['hotmail.com', 'outlook'],
  ['163.com', 'netease'],
])(
  'a pause of %s is refused and names the group %s, for which its mail counts',
  async (domain, group) => {
    const request = { ...place, receiver: domain, forSeconds: hour };
    await expect(given.receivers.pauseReceiver(request)).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: `mail to ${domain} counts for the group ${group}`,
    });
    expect(await listed()).toEqual([]);
  },
);

test('a resume with a name that no group can have is refused', async () => {
  for (const receiver of ['ann@example.com', 'a'.repeat(100_000)]) {
    const resumed = given.receivers.resumeReceiver({ ...place, receiver });
    await expect(resumed).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: expect.stringMatching(/^receiver must be the name of a group/),
    });
  }
});

test('a pause is refused for an integration that does not deliver directly, or is not there', async () => {
  const relay = { ...place, integrationId: crypto.randomUUID() };
  const request = { ...relay, receiver: 'google', forSeconds: hour };
  given.world.isDirect = false;
  await expect(given.receivers.pauseReceiver(request)).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'the integration does not deliver directly',
  });
  const gone = { ...request, integrationId: 'deleted' };
  await expect(given.receivers.pauseReceiver(gone)).rejects.toMatchObject({ code: Code.NotFound });
});

test('at most 100 groups of an integration are paused, also by calls at once, and ended pauses take no room', async () => {
  await query(
    given.store.fork(),
    `insert into receiver_pauses
     select 'w1', 'smtp-1', 'r' || n, now() + case when n = 1 then -interval '1 s' else interval '1 day' end, now()
     from generate_series(1, 100) n`,
    [],
  );
  const pause = (receiver: string) =>
    given.receivers.pauseReceiver({ ...place, receiver, forSeconds: hour });
  const answers = await Promise.allSettled(['a', 'b', 'c'].map(pause));
  expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  await expect(pause('d')).rejects.toMatchObject({
    code: Code.FailedPrecondition,
    rawMessage: 'at most 100 groups of receivers of an integration can be paused',
  });
  await pause('r50');
  expect(await listed()).toHaveLength(100);
});
