import { timestampDate } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { batchOf, type Given, people, useService } from '../test/given.ts';

const clock = { now: new Date() };

let fresh: ReturnType<Given['newProcess']>;
afterAll(() => fresh.context.admission.close());
const given = useService();
beforeAll(async () => {
  given.world.warmUp = { startedOn: '2026-11-21', dailyLimits: [50, 70] };
  fresh = newReplica();
});
afterEach(() => {
  given.sink.reset();
  given.world.skipReasons.clear();
});

const newReplica = () => given.newProcess({ now: () => clock.now });

/** A batch of a hundred through an integration of its own, which nobody has used today. */
function batch() {
  clock.now = new Date('2026-11-21T10:00:00Z');
  return batchOf(people(100), { integrationId: crypto.randomUUID() });
}

const reason = 'warm-up limit of 50 messages a day reached';

test('a warm-up sends what the day allows, and says when the rest may be sent', async () => {
  const answer = await fresh.sender.sendBatch(batch());
  expect(answer).toMatchObject({ sent: 50, notStarted: 50, deferred: 0, outage: reason });
  const endsAt = answer.outageEndsAt && timestampDate(answer.outageEndsAt);
  expect(endsAt?.toISOString()).toBe('2026-11-22T00:00:00.000Z');
  expect(given.sink.total()).toBe(50);
});

test('the next day has the next limit, and after the last one there is none', async () => {
  const asked = batch();
  await fresh.sender.sendBatch(asked);
  expect(await fresh.sender.sendBatch(asked)).toMatchObject({ sent: 50, outage: reason });
  clock.now = new Date('2026-11-22T00:00:00Z');
  expect(await fresh.sender.sendBatch(asked)).toMatchObject({ sent: 100, outage: '' });
  const more = { ...batchOf(people(100, 'q')), plan: asked.plan };
  expect(await fresh.sender.sendBatch(more)).toMatchObject({
    sent: 20,
    outage: 'warm-up limit of 70 messages a day reached',
  });
  clock.now = new Date('2026-11-23T00:00:00Z');
  expect(await fresh.sender.sendBatch(more)).toMatchObject({ sent: 100, outage: '' });
  expect(given.sink.duplicates()).toEqual([]);
});

test('a day has one limit for all replicas', async () => {
  const asked = batch();
  const replicas = [fresh, newReplica(), newReplica()];
  const answers = await Promise.all(
    replicas.map(({ sender }, at) =>
      sender.sendBatch({ ...batchOf(people(40, `r${at}x`)), plan: asked.plan }),
    ),
  );
  expect(answers.reduce((sum, { sent }) => sum + sent, 0)).toBe(50);
  expect(given.sink.total()).toBe(50);
  for (const { context } of replicas.slice(1)) context.admission.close();
});

test('skipped recipients do not count towards the daily limit', async () => {
  const asked = batch();
  for (const email of people(60)) given.world.skipReasons.set(email, 'unsubscribed');
  expect(await fresh.sender.sendBatch(asked)).toMatchObject({ sent: 40, skipped: 60, outage: '' });
});

test('an outage does not count towards the daily limit', async () => {
  const asked = batch();
  given.world.port = 1;
  const away = newReplica();
  expect(await away.sender.sendBatch(asked)).toMatchObject({
    notStarted: 100,
    outage: expect.not.stringContaining('warm-up'),
  });
  given.world.port = given.sink.port;
  const back = newReplica();
  expect(await back.sender.sendBatch(asked)).toMatchObject({ sent: 50, outage: reason });
  for (const { context } of [away, back]) context.admission.close();
});

test('an individual send is refused with the reason once the daily limit is reached', async () => {
  const { emails, ...asked } = batch();
  await fresh.sender.sendBatch({ ...asked, emails });
  const byHand = { ...asked, recipientEmail: 'ada@example.com' };
  await expect(fresh.sender.sendIndividual(byHand)).rejects.toMatchObject({
    code: Code.FailedPrecondition,
    rawMessage: `the message was not sent: ${reason}`,
  });
});

test('calls that fail before they claim take nothing of the daily limit', async () => {
  const asked = batch();
  const { contacts } = given.context;
  const down = () => Promise.reject(new ConnectError('contacts is down', Code.Unavailable));
  const away = given.newProcess({
    now: () => clock.now,
    contacts: { ...contacts, resolveRecipients: down },
  });
  await expect(away.sender.sendBatch(asked)).rejects.toMatchObject({ code: Code.Unavailable });
  expect(await fresh.sender.sendBatch(asked)).toMatchObject({ sent: 50 });
  away.context.admission.close();
});
