import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { beforeEach, expect, test } from '@jest/globals';
import { BroadcastStatus } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { SendBatchResponseSchema } from '#gen/postrider/messages/v1/messages_pb.ts';
import type { TestSettings } from '../broadcast/row.ts';
import { givenBroadcast, tested, useService } from '../test/given.ts';
import { allSent } from '../test/given-peers.ts';
import { playSteps, runActivity, untilSliceSeesChange } from '../test/play.ts';
import { freezeAudience } from './freeze-audience.ts';
import { pauseBySystem } from './pause-by-system.ts';
import { readPlan } from './read-plan.ts';

const given = useService();
let asked: Map<string, string[]>;
beforeEach(() => {
  asked = new Map();
  given.peers.stats = [];
  given.peers.audience = people(1_000);
  given.peers.sendBatch = (request) => {
    const template = request.plan?.templateId ?? '';
    asked.set(template, [...(asked.get(template) ?? []), ...request.emails]);
    return allSent(request);
  };
});

const people = (count: number) =>
  Array.from({ length: count }, (_, index) => `p${String(index).padStart(5, '0')}@example.com`);

type Key = { workspaceId: string; id: string };
const run = runActivity;
const look = async (key: Key) => (await readPlan(given.context)(key)).step;
const read = async (key: Key) => (await given.client.getBroadcast(key)).broadcast;

async function givenTest(over: Partial<TestSettings> = {}): Promise<Key> {
  const key = await givenBroadcast(given, {
    status: 'testing',
    test_settings: { ...tested, ...over },
  });
  await run(() => freezeAudience(given.context)(key));
  return key;
}

const play = (key: Key) => playSteps(given, key);
const sizes = () => Object.fromEntries([...asked].map(([name, emails]) => [name, emails.length]));
const pass = (hours: number) => {
  given.clock.now = new Date(given.clock.now.getTime() + hours * 3_600_000);
};

test('a test sends its sample in equal arms, waits, picks a winner, and sends it to the rest', async () => {
  const key = await givenTest();
  const winnerDueAtMs = given.clock.now.getTime() + 4 * 3_600_000;
  expect(await play(key)).toEqual({ do: 'wait', untilMs: winnerDueAtMs });
  expect(sizes()).toEqual({ a: 250, b: 250 });
  expect(await read(key)).toMatchObject({
    status: BroadcastStatus.TEST_COMPLETED,
    testPhaseRecipientCount: 500,
    winnerPhaseRecipientCount: 500,
  });
  given.peers.stats = [
    { templateId: 'a', sent: 250, opened: 10 },
    { templateId: 'b', sent: 250, opened: 20 },
  ];
  pass(4);
  expect(await play(key)).toEqual({ do: 'end' });
  expect(sizes()).toEqual({ a: 250, b: 750 });
  expect([...asked.values()].flat().toSorted()).toEqual(people(1_000));
  const broadcast = await read(key);
  expect(broadcast).toMatchObject({ status: BroadcastStatus.SENT, winningTemplate: 'b' });
  expect(broadcast?.winnerSentAt).toBeDefined();
  expect(await given.client.getTestResults(key)).toMatchObject({
    decidedBy: 'open_rate',
    winningTemplate: 'b',
    isAutoSendWinner: true,
    variationResults: {
      a: { recipients: 250, opens: 10, openRate: 0.04, templateName: 'A' },
      b: { recipients: 250, opens: 20, openRate: 0.08, templateName: 'B' },
    },
  });
});

test('the sample follows neither the alphabet nor the sample of another broadcast', async () => {
  const keys = [
    await givenTest({ sample_percentage: 10 }),
    await givenTest({ sample_percentage: 10 }),
  ];
  const samples: string[][] = [];
  for (const key of keys) {
    asked.clear();
    await play(key);
    samples.push([...asked.values()].flat().toSorted());
  }
  const [one = [], other = []] = samples;
  expect(one).toHaveLength(100);
  expect(one).not.toEqual(people(100));
  expect(one).not.toEqual(other);
  expect(one.filter((email) => email > 'p00500').length).toBeGreaterThan(25);
});

test.each([
  ['1 of 3', 3, 1, { a: 1 }],
  ['a share that rounds down', 9, 25, { a: 1, b: 1 }],
  ['an odd sample', 10, 50, { a: 3, b: 2 }],
  ['a fraction of a percent more', 1_000, 12.5, { a: 63, b: 62 }],
])('%s is dealt in turn', async (_name, count, sample_percentage, expected) => {
  given.peers.audience = people(count);
  await play(await givenTest({ sample_percentage }));
  expect(sizes()).toEqual(expected);
});

test.each([
  ['nobody', 0, 50, {}],
  ['one recipient', 1, 50, { a: 1 }],
  ['a sample of everybody', 4, 100, { a: 2, b: 2 }],
])(
  'a test of %s leaves no recipient for a winner and is sent',
  async (_name, count, share, expected) => {
    given.peers.audience = people(count);
    const key = await givenTest({ sample_percentage: share });
    expect(await play(key)).toEqual({ do: 'end' });
    expect(sizes()).toEqual(expected);
    expect(await read(key)).toMatchObject({ status: BroadcastStatus.SENT });
  },
);

test('without numbers only a person chooses', async () => {
  const key = await givenTest({ auto_send_winner: false });
  expect(await play(key)).toEqual({ do: 'wait', untilMs: null });
  const results = () => given.client.getTestResults(key);
  given.peers.stats = ['a', 'b'].map((templateId) => ({ templateId, sent: 250 }));
  Object.assign(given.peers.stats[1]!, { clicked: 1, opened: 1 });
  expect(await results()).toMatchObject({ comparison: { best: 'b', isEnough: false } });
  expect((await results()).recommendedWinner).toBeUndefined();
  given.peers.stats[1]!.clicked = 20;
  expect(await results()).toMatchObject({ recommendedWinner: 'b', comparison: { isEnough: true } });
  await given.client.selectWinner({ ...key, templateId: 'a' });
  expect(await play(key)).toEqual({ do: 'end' });
  expect(sizes()).toEqual({ a: 750, b: 250 });
  expect(await results()).toMatchObject({ decidedBy: 'person', winningTemplate: 'a' });
  expect((await results()).recommendedWinner).toBeUndefined();
});

test.each(['a person', 'the numbers'] as const)(
  'the numbers of the sample are kept when %s choose the winner, beside those of the whole',
  async (who) => {
    const key = await givenTest({ auto_send_winner: who === 'the numbers' });
    await play(key);
    const numbers = (templateId: string, sent: number, opened: number) => ({
      templateId,
      sent,
      opened,
    });
    given.peers.stats = [numbers('a', 250, 50), numbers('b', 250, 110)];
    const { comparison, testResults: before } = await given.client.getTestResults(key);
    expect(comparison).toMatchObject({ best: 'b', isEnough: true });
    if (who === 'a person') await given.client.selectWinner({ ...key, templateId: 'b' });
    pass(5);
    expect(await play(key)).toEqual({ do: 'end' });
    given.peers.stats = [numbers('a', 250, 50), numbers('b', 750, 120)];
    const results = await given.client.getTestResults(key);
    expect(results).toMatchObject({ winningTemplate: 'b', comparison });
    expect(results.testResults).toEqual(before);
    expect(results.testResults.b).toMatchObject({ recipients: 250, opens: 110, openRate: 0.44 });
    expect(results.testResults.b?.openRateInterval?.low).toBeCloseTo(0.3799, 3);
    expect(results.variationResults.b).toMatchObject({ recipients: 750, opens: 120 });
    const broadcast = await read(key);
    expect(broadcast?.testSettings?.variations[1]).toMatchObject({
      metrics: { recipients: 750, opens: 120 },
      testMetrics: { recipients: 250, opens: 110 },
    });
    const token = new URL(broadcast?.pageUrl ?? '').searchParams.get('token') ?? '';
    const page = await given.pages.getBroadcastPage({ id: key.id, token });
    expect(page.comparison).toEqual(comparison);
    expect(page.arms[1]).toMatchObject({
      result: { recipients: 750 },
      testResult: { recipients: 250 },
    });
  },
);

test('a winner can be chosen while messages is away, without numbers of the sample', async () => {
  const key = await givenTest({ auto_send_winner: false });
  await play(key);
  given.peers.stats = new ConnectError('away', Code.Unavailable);
  await given.client.selectWinner({ ...key, templateId: 'b' });
  given.peers.stats = [];
  const results = await given.client.getTestResults(key);
  expect(results).toMatchObject({ winningTemplate: 'b', testResults: {} });
  expect(results.comparison).toBeUndefined();
});

test('a winner chosen in the middle of the sample goes to everybody without a message', async () => {
  given.peers.audience = people(4_000);
  const key = await givenTest();
  let calls = 0;
  const send = given.peers.sendBatch;
  const changeSeen = untilSliceSeesChange(given);
  given.peers.sendBatch = async (request) => {
    calls += 1;
    if (calls === 1) await given.client.selectWinner({ ...key, templateId: 'b' });
    await changeSeen;
    return send(request);
  };
  expect(await play(key)).toEqual({ do: 'end' });
  const { a = 0, b = 0 } = sizes();
  expect(a).toBeLessThan(1_000);
  expect(new Set([...asked.values()].flat()).size).toBe(4_000);
  expect(a + b).toBe(4_000);
});

test('resume picks the winner when its time has passed', async () => {
  const key = await givenTest();
  await play(key);
  await given.client.pauseBroadcast(key);
  pass(5);
  expect(await look(key)).toEqual({ do: 'wait', untilMs: null });
  await given.client.resumeBroadcast(key);
  expect(await look(key)).toEqual({ do: 'pickWinner' });
  expect(await play(key)).toEqual({ do: 'end' });
  expect(await given.client.getTestResults(key)).toMatchObject({ decidedBy: 'silence' });
});

test('a winner chosen while paused in the test waits for resume', async () => {
  const key = await givenTest();
  await play(key);
  await given.client.pauseBroadcast(key);
  await given.client.selectWinner({ ...key, templateId: 'b' });
  expect(await read(key)).toMatchObject({ status: BroadcastStatus.PAUSED, winningTemplate: 'b' });
  expect(await look(key)).toEqual({ do: 'wait', untilMs: null });
  await given.client.resumeBroadcast(key);
  expect(await read(key)).toMatchObject({ status: BroadcastStatus.WINNER_SELECTED });
  expect(await play(key)).toEqual({ do: 'end' });
});

test('deferred recipients of the sample delay neither the test nor the winner', async () => {
  const due = new Date(given.clock.now.getTime() + 3_600_000);
  given.peers.sendBatch = ({ emails }) =>
    create(SendBatchResponseSchema, {
      sent: emails.length - 1,
      deferred: 1,
      nextDueAt: timestampFromDate(due),
    });
  const key = await givenTest();
  expect(await play(key)).toEqual({ do: 'wait', untilMs: due.getTime() });
  expect(await read(key)).toMatchObject({ status: BroadcastStatus.TEST_COMPLETED });
  given.peers.sendBatch = allSent;
  pass(4);
  expect(await play(key)).toEqual({ do: 'end' });
  expect(await read(key)).toMatchObject({ status: BroadcastStatus.SENT, sentCount: 1_000 });
});

test('an outage during the test pauses the broadcast, and resume continues the test', async () => {
  const key = await givenTest();
  await pauseBySystem(given.context)(key, 'connection refused', 'outage');
  expect(await read(key)).toMatchObject({ status: BroadcastStatus.PAUSED });
  pass(1);
  await given.client.resumeBroadcast(key);
  expect(await read(key)).toMatchObject({ status: BroadcastStatus.TESTING });
});

test('selectWinner refuses a template that no variation has', async () => {
  const key = await givenTest();
  await expect(given.client.selectWinner({ ...key, templateId: 'other' })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'the template is none of the variations',
  });
});

test('getTestResults is refused without a test and before the start', async () => {
  const untested = await givenBroadcast(given, { status: 'sending' });
  await expect(given.client.getTestResults(untested)).rejects.toMatchObject({
    code: Code.FailedPrecondition,
    rawMessage: 'the broadcast has no test',
  });
  const draft = await givenBroadcast(given, { status: 'draft', test_settings: tested });
  await expect(given.client.getTestResults(draft)).rejects.toMatchObject({
    code: Code.FailedPrecondition,
  });
});

test('every answer shows the outcomes of each variation', async () => {
  const key = await givenTest();
  await play(key);
  given.peers.stats = [{ templateId: 'b', sent: 250, opened: 3, unsubscribed: 1 }];
  const { broadcasts } = await given.client.listBroadcasts({ workspaceId: key.workspaceId });
  const shown = broadcasts.find(({ id }) => id === key.id)?.testSettings?.variations;
  expect(shown).toMatchObject([
    { templateId: 'a', metrics: { recipients: 0 } },
    { templateId: 'b', metrics: { recipients: 250, opens: 3, unsubscribed: 1 } },
  ]);
});
