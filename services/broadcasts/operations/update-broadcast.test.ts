import { Code } from '@connectrpc/connect';
import { beforeEach, expect, test } from '@jest/globals';
import { BroadcastStatus } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { freezeAudience } from '../activities/freeze-audience.ts';
import { givenBroadcast, tested, useService } from '../test/given.ts';
import { playSteps, runActivity } from '../test/play.ts';

const given = useService();
beforeEach(() => {
  Object.assign(given.peers, { hasTemplate: true, providerId: 'smtp' });
});

type Key = { workspaceId: string; id: string };
const content = {
  name: 'New name',
  audience: { list: 'news', segments: [] as string[] },
  testSettings: { variations: [{ templateId: 'hello' }] },
};
const testOf = (...templates: string[]) => ({
  testSettings: {
    enabled: true,
    samplePercentage: 50,
    autoSendWinner: true,
    autoSendWinnerMetric: 'open_rate',
    testDurationHours: 4,
    variations: templates.map((templateId) => ({ templateId })),
  },
});
const update = (key: Key, change: object = {}) =>
  given.client.updateBroadcast({ ...key, ...content, ...change });
const read = async (key: Key) => (await given.client.getBroadcast(key)).broadcast;

const unsendable = [
  [{ audience: { list: 'news', segments: ['missing'] } }, 'segment missing not found'],
  [{ testSettings: undefined }, 'the broadcast has no variation with a template'],
  [{ audience: { list: 'missing' } }, 'list missing not found'],
] as const;

test.each(unsendable)(
  'update of a scheduled or paused broadcast refuses %j',
  async (change, text) => {
    for (const wish of [{ status: 'scheduled' }, { status: 'paused', paused_from: 'scheduled' }]) {
      const key = await givenBroadcast(given, wish as object);
      const refused = { code: Code.InvalidArgument, rawMessage: text };
      await expect(update(key, change)).rejects.toMatchObject(refused);
      expect(await read(key)).toMatchObject({ name: 'Hello', audience: { segments: [] } });
    }
  },
);

test('update accepts it for a draft, which schedule then refuses', async () => {
  const key = await givenBroadcast(given);
  await update(key, { audience: { list: 'news', segments: ['missing'] } });
  await expect(given.client.scheduleBroadcast({ ...key, sendNow: true })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'segment missing not found',
  });
});

/** Runs `work` while the operation under test reads the list. */
function meanwhile(work: () => Promise<unknown>): void {
  const { lists } = given.context;
  const { getList } = lists;
  lists.getList = async (request) => {
    lists.getList = getList;
    await work();
    return getList(request);
  };
}

test('schedule refuses a broadcast that was changed while it was checked', async () => {
  const key = await givenBroadcast(given);
  meanwhile(() => update(key, { audience: { list: 'news', segments: ['missing'] } }));
  await expect(given.client.scheduleBroadcast({ ...key, sendNow: true })).rejects.toMatchObject({
    code: Code.Aborted,
  });
  expect(await read(key)).toMatchObject({ status: BroadcastStatus.DRAFT });
});

test('an unchecked update of a draft that is scheduled meanwhile is refused', async () => {
  const key = await givenBroadcast(given);
  const { store } = given.context;
  const fork = store.fork;
  let forks = 0;
  store.fork = () => {
    const em = fork();
    forks += 1;
    if (forks === 2) {
      // The draft has been read, and the change is about to be made.
      const change = em.transactional.bind(em);
      em.transactional = async (...work) => {
        store.fork = fork;
        const time = { scheduledDate: '2030-01-02', scheduledTime: '12:00', timezone: 'UTC' };
        await given.client.scheduleBroadcast({ ...key, ...time });
        return change(...work);
      };
    }
    return em;
  };
  const updating = update(key, { audience: { list: 'news', segments: ['missing'] } });
  await expect(updating).rejects.toMatchObject({ code: Code.Aborted });
  expect(await read(key)).toMatchObject({
    status: BroadcastStatus.SCHEDULED,
    audience: { segments: [] },
  });
});

test('freezing refuses a broadcast with no variation, and mails nobody', async () => {
  const test_settings = { ...tested, enabled: false, variations: [] };
  const key = await givenBroadcast(given, { status: 'sending', test_settings });
  const frozen = runActivity(() => freezeAudience(given.context)(key));
  await expect(frozen).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'the broadcast has no variation with a template',
  });
  expect(await read(key)).toMatchObject({ enqueuedCount: 0 });
});

test('a test that is switched on while paused runs after resume', async () => {
  const key = await givenBroadcast(given, { status: 'paused', paused_from: 'sending' });
  await update(key, testOf('a', 'b'));
  await given.client.resumeBroadcast(key);
  expect(await read(key)).toMatchObject({ status: BroadcastStatus.TESTING });
  expect(await playSteps(given, key)).toMatchObject({ do: 'wait' });
  expect(await read(key)).toMatchObject({ status: BroadcastStatus.TEST_COMPLETED });
});

test('a test that is switched off while paused does not run, and everything is sent', async () => {
  const wish = { status: 'paused', paused_from: 'testing', test_settings: tested } as const;
  const key = await givenBroadcast(given, wish);
  await update(key);
  const selecting = given.client.selectWinner({ ...key, templateId: 'hello' });
  await expect(selecting).rejects.toMatchObject({ code: Code.FailedPrecondition });
  await given.client.resumeBroadcast(key);
  expect(await playSteps(given, key)).toEqual({ do: 'end' });
  expect(await read(key)).toMatchObject({ status: BroadcastStatus.SENT, sentCount: 3 });
});

test('a winner that an update removes is chosen again', async () => {
  const wish = { status: 'paused', paused_from: 'testing', test_settings: tested } as const;
  const key = await givenBroadcast(given, wish);
  await given.client.selectWinner({ ...key, templateId: 'b' });
  await update(key, testOf('a', 'c'));
  expect((await read(key))?.winningTemplate).toBeUndefined();
  await given.client.resumeBroadcast(key);
  expect(await read(key)).toMatchObject({ status: BroadcastStatus.TESTING });
});

test('resume follows the row: a start time that has passed meanwhile starts the broadcast', async () => {
  const starts_at = new Date(given.clock.now.getTime() - 60_000);
  const wish = { status: 'paused', paused_from: 'scheduled', starts_at } as const;
  const key = await givenBroadcast(given, wish);
  await given.client.resumeBroadcast(key);
  const broadcast = await read(key);
  expect(broadcast).toMatchObject({ status: BroadcastStatus.SENDING });
  expect(broadcast?.startedAt).toBeDefined();
});
