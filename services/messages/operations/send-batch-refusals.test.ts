import { timestampMs } from '@bufbuild/protobuf/wkt';
import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { query } from '#lib/postgres/query.ts';
import { batchOf, people, resetAfterEach, useService } from '../test/given.ts';

const minuteMs = 60_000;
const none = { sent: 0, failed: 0, skipped: 0, deferred: 0, notStarted: 0, unknown: 0, outage: '' };

const given = useService();
resetAfterEach(given);

type Batch = ReturnType<typeof batchOf>;

/** Sends, and gives the minutes until the first deferred message is due. */
async function sendAndWait(batch: Batch): Promise<number> {
  const beforeMs = Date.now();
  const { nextDueAt } = await given.sender.sendBatch(batch);
  return nextDueAt ? Math.round((timestampMs(nextDueAt) - beforeMs) / minuteMs) : 0;
}

const makeDue = ({ broadcastId }: Batch) =>
  query(
    given.store.fork(),
    "update messages set due_at = now() where broadcast_id = $1 and status = 'deferred'",
    [broadcastId],
  );

test.each(['421 4.3.2 shutting down', '450 4.2.1 busy', '451 4.3.0 failure', '452 4.2.2 full'])(
  'a message deferred with %s is tried again after 1, 5, 15, 60 and 60 minutes',
  async (reply) => {
    given.sink.behaviour.replies = [{ step: 'rcpt', reply }];
    const batch = batchOf(people(1, `r${reply.slice(0, 3)}x`));
    const waits: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      waits.push(await sendAndWait(batch));
      await makeDue(batch);
    }
    expect(waits).toEqual([1, 5, 15, 60, 60]);
  },
);

test('a longer delay that the server states is respected', async () => {
  given.sink.behaviour.replies = [
    { step: 'rcpt', recipient: '^long', reply: '451 4.7.1 greylisted, try again in 600 seconds' },
    { step: 'rcpt', recipient: '^short', reply: '451 4.7.1 try again in 2 seconds' },
  ];
  expect(await sendAndWait(batchOf(['long@example.com']))).toBe(10);
  expect(await sendAndWait(batchOf(['short@example.com']))).toBe(1);
});

test('a domain that defers every message delays no other domain', async () => {
  given.sink.behaviour.replies = [
    { step: 'rcpt', recipient: '@slow\\.example$', reply: '451 4.7.1 too many from you' },
  ];
  const slow = Array.from({ length: 60 }, (_, at) => `p${at}@slow.example`);
  const answer = await given.sender.sendBatch(batchOf([...slow, ...people(60)]));
  expect(answer).toMatchObject({ ...none, sent: 60, deferred: 60 });
});

test('a server that greylists everybody gets each mail once', async () => {
  given.sink.behaviour.greylist = '450 4.2.0 greylisted';
  const batch = batchOf(people(100, 'grey'));
  expect(await given.sender.sendBatch(batch)).toMatchObject({ ...none, deferred: 100 });
  expect(given.sink.total()).toBe(0);
  await makeDue(batch);
  expect(await given.sender.sendBatch(batch)).toMatchObject({ ...none, sent: 100 });
  expect(given.sink.received.size).toBe(100);
  expect(given.sink.duplicates()).toEqual([]);
});

test.each([
  ['rcpt', '550 5.1.1 no such user', true],
  ['rcpt', '553 5.1.3 bad address', true],
  ['rcpt', '550 5.1.6 moved away', true],
  ['rcpt', '556 5.1.10 takes no mail', true],
  ['rcpt', '550 no such mailbox here', true],
  ['dot', '550 5.1.1 no such user', true],
  ['dot', '550 5.1.6 moved away', false],
  ['dot', '550 no such mailbox here', false],
  ['data', '550 5.1.1 no such user', false],
  ['rcpt', '550 5.1.0 <news@sender.example>: Sender address rejected', false],
  ['rcpt', '550 sender address does not exist', false],
  ['rcpt', '553 5.1.2 no such domain', false],
  ['rcpt', '550 5.2.1 mailbox disabled', false],
  ['rcpt', '552 5.3.4 message too big', false],
  ['rcpt', '554 5.7.1 looks like spam', false],
  ['rcpt', '550 5.7.26 not authenticated', false],
  ['rcpt', '552 5.2.2 mailbox full', false],
] as const)(
  'at %s, %s is never tried again, and suppresses the address: %p',
  async (step, reply, isDead) => {
    const email = `${crypto.randomUUID()}@example.com`;
    given.sink.behaviour.replies = [{ step, reply }];
    const batch = batchOf([email]);
    expect(await given.sender.sendBatch(batch)).toMatchObject({ ...none, failed: 1 });
    given.sink.behaviour.replies = [];
    expect(await given.sender.sendBatch(batch)).toMatchObject({ ...none, failed: 1 });
    expect(given.sink.total()).toBe(0);
    const next = await given.sender.sendBatch(batchOf([email]));
    expect(next).toMatchObject(isDead ? { ...none, skipped: 1 } : { ...none, sent: 1 });
  },
);

test('an outage of the mail server is logged once with its reason, and its end', async () => {
  const lines: { level: number; msg: string; reason?: string }[] = [];
  const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line)) });
  const { sender } = given.newProcess({ log });
  const send = (name: string) => sender.sendBatch(batchOf([`${name}@example.com`]));
  given.sink.behaviour.replies = [
    { step: 'mail', reply: '550 5.7.1 <hello@example.com>: not allowed' },
  ];
  for (const name of ['anna', 'bert']) expect((await send(name)).outage).not.toBe('');
  given.sink.behaviour.replies = [];
  for (const name of ['carl', 'dora']) expect(await send(name)).toMatchObject({ sent: 1 });
  expect(lines).toMatchObject([
    {
      level: 40,
      workspaceId: batchOf([]).workspaceId,
      msg: 'the mail server takes no mail; trying again later',
    },
    { level: 30, msg: 'the mail server takes mail again' },
  ]);
  expect(lines[0]?.reason).toContain('550 5.7.1');
  expect(JSON.stringify(lines)).not.toContain('@');
});
