import { createRouterTransport } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { type EventBatch, eventsOf, openOutbox } from '#lib/events/outbox.ts';
import { query } from '#lib/postgres/query.ts';
import { batchOf, people, resetAfterEach, useService } from '../test/given.ts';

const given = useService();
resetAfterEach(given);

type Batch = ReturnType<typeof batchOf>;

const none = { sent: 0, failed: 0, skipped: 0, deferred: 0, notStarted: 0, unknown: 0, outage: '' };

const sql = (text: string, { broadcastId }: Batch) =>
  query<Record<string, unknown>>(given.store.fork(), text, [broadcastId]);

const rows = (batch: Batch) =>
  sql('select * from messages where broadcast_id = $1 order by contact_email', batch);

const makeDue = (batch: Batch) =>
  sql("update messages set due_at = now() where broadcast_id = $1 and status = 'deferred'", batch);

const countedSent = async (batch: Batch) =>
  (
    await sql('select sum(sent)::int as sent from variation_counts where broadcast_id = $1', batch)
  )[0]?.sent;

/** A process with a consumer of events, so that each event is in a job. */
const newProcess = () =>
  given.newProcess({
    outbox: openOutbox('messages', { webhooks: createRouterTransport(() => {}) }),
  });

async function eventTypesOf({ broadcastId }: Batch): Promise<string[]> {
  const jobs = await query<{ payload: EventBatch }>(
    given.store.fork(),
    'select payload from messages_jobs._private_jobs',
    [],
  );
  const events = jobs.flatMap(({ payload }) => eventsOf(payload));
  const ours = events.filter(({ dataJson }) => JSON.parse(dataJson).broadcast_id === broadcastId);
  return ours.map(({ type }) => type);
}

test.each([0, 1, 3])(
  'a message without an answer is tried %i times more and is then recorded as sent',
  async (retries) => {
    given.world.unknownRetries = retries;
    given.sink.behaviour.dropAfterDot = 1;
    const { sender, context } = newProcess();
    const batch = batchOf(people(2));
    for (let round = 0; round < retries; round += 1) {
      expect(await sender.sendBatch(batch)).toMatchObject({ ...none, deferred: 2, unknown: 2 });
      await makeDue(batch);
    }
    expect(await sender.sendBatch(batch)).toMatchObject({ ...none, sent: 2, unknown: 2 });
    expect(given.sink.total()).toBe(2 * (retries + 1));
    const [row] = await rows(batch);
    expect(row).toMatchObject({ status: 'sent', unknown: retries + 1, attempts: retries + 1 });
    expect(row).toMatchObject({ due_at: null, owner: null, failed_at: null });
    expect(row?.sent_at).not.toBeNull();
    const tries = retries === 0 ? 'one try' : `${retries + 1} tries`;
    expect(row?.status_info).toBe(
      `no answer to ${tries}, not tried again: the connection was closed before the server had answered`,
    );
    expect(await countedSent(batch)).toBe(2);
    expect(await eventTypesOf(batch)).toEqual(['email.sent', 'email.sent']);
    context.admission.close();
  },
);

test('a try that was interrupted does not lengthen the wait after the next', async () => {
  given.sink.behaviour.dropAfterDot = 1;
  const batch = batchOf(people(1));
  await given.sender.sendBatch(batch);
  await makeDue(batch);
  given.sink.behaviour.dropAfterDot = 0;
  given.sink.behaviour.replies = [{ step: 'rcpt', reply: '451 4.7.1 later' }];
  const beforeMs = Date.now();
  const { nextDueAt } = await given.sender.sendBatch(batch);
  expect(Math.round((Number(nextDueAt?.seconds) * 1000 - beforeMs) / 60_000)).toBe(1);
});

test('a message with a value of 11 MB fails alone', async () => {
  given.world.fields.set('p1@example.com', { first_name: 'x'.repeat(11_000_000) });
  const batch = batchOf(people(20));
  expect(await given.sender.sendBatch(batch)).toMatchObject({ ...none, sent: 19, failed: 1 });
  const failed = (await rows(batch)).filter(({ status }) => status === 'failed');
  expect(failed).toMatchObject([
    {
      contact_email: 'p1@example.com',
      status_info: 'the message can not be rendered: the subject part is larger than 1 MiB',
    },
  ]);
});

test('a message whose part is larger than 1 MiB fails alone, rendered in the thread as well', async () => {
  const html = '<p>{% for n in (1..2) %}{{ contact.first_name }}{% endfor %}</p>';
  given.world.content = { ...given.world.content, html };
  given.world.fields.set('p0@example.com', { first_name: 'x'.repeat(600_000) });
  given.world.fields.set('p1@example.com', { first_name: 'x'.repeat(400_000) });
  const batch = batchOf(people(3));
  expect(await given.sender.sendBatch(batch)).toMatchObject({ ...none, sent: 2, failed: 1 });
  expect((await rows(batch))[0]?.status_info).toMatch(/is larger than 1 MiB$/);
});

test.each([
  [
    '550 5.1.0 <news@sender.example>: Sender address rejected',
    'MAIL was refused: 550 5.1.0 <[address]>: Sender address rejected',
  ],
  ['550 5.7.1 not from here', 'MAIL was refused: 550 5.7.1 not from here'],
  ['503 send AUTH first', 'MAIL was refused: 503 send AUTH first'],
])('a refused sender leaves all messages as they were: %s', async (reply, outage) => {
  given.sink.behaviour.replies = [{ step: 'mail', reply }];
  const batch = batchOf(people(100));
  expect(await given.sender.sendBatch(batch)).toMatchObject({ ...none, notStarted: 100, outage });
  expect(await rows(batch)).toEqual([]);
  given.sink.behaviour.replies = [];
  expect(await given.sender.sendBatch(batch)).toMatchObject({ ...none, sent: 100 });
});

test('a refusal of every recipient is an outage, and the first refused messages are deferred', async () => {
  given.sink.behaviour.replies = [{ step: 'rcpt', reply: '550 5.7.1 sender blocked' }];
  const batch = batchOf(people(200));
  const answer = await given.sender.sendBatch(batch);
  expect(answer.outage).toBe('RCPT was refused 10 times in a row: 550 5.7.1 sender blocked');
  expect(answer.failed).toBe(0);
  expect(answer.deferred).toBeGreaterThan(0);
  expect(answer.deferred + answer.notStarted).toBe(200);
  given.sink.behaviour.replies = [];
  await makeDue(batch);
  expect(await given.sender.sendBatch(batch)).toMatchObject({ ...none, sent: 200 });
});
