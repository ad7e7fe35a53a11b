import { beforeEach, expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { batchOf, people, resetAfterEach, useService } from '../test/given.ts';

const given = useService();
resetAfterEach(given);

const workspaceId = 'w1';
const sql = <Row>(text: string, ...values: unknown[]) =>
  query<Row>(given.store.fork(), text, values);

// A bounce of one test suppresses the address for all.
beforeEach(() => sql('delete from suppressions'));

const columns = ['sent', 'failed', 'bounced', 'skipped', 'deferred', 'unknown'];

/** The counts of each template as they are kept, and as the messages have them. */
async function counts(broadcastId: string) {
  const kept = await sql<object>(
    `select template_id, ${columns.map((name) => `sum(${name})::int as ${name}`).join(', ')}
     from variation_counts where broadcast_id = $1 group by template_id order by template_id`,
    broadcastId,
  );
  const found = await sql<object>(
    `select template_id, count(sent_at)::int as sent, count(failed_at)::int as failed,
       count(bounced_at)::int as bounced, count(*) filter (where status = 'skipped')::int as skipped,
       count(*) filter (where status = 'deferred')::int as deferred,
       count(*) filter (where unknown > 0)::int as unknown
     from messages where broadcast_id = $1 and not by_hand group by template_id order by template_id`,
    broadcastId,
  );
  return { kept, found };
}

/** One fails, two are deferred, one is skipped, six are sent. */
async function mixedBatch() {
  given.sink.behaviour.replies = [
    { step: 'rcpt', recipient: '^p1@', reply: '550 5.1.1 no such user' },
    { step: 'rcpt', recipient: '^p[24]@', reply: '450 later' },
  ];
  given.world.skipReasons.set('p3@example.com', 'unsubscribed');
  const batch = batchOf(people(10));
  await given.sender.sendBatch(batch);
  return batch;
}

const makeDue = (broadcastId: string) =>
  sql(
    "update messages set due_at = now() where broadcast_id = $1 and status = 'deferred'",
    broadcastId,
  );

test('failed, skipped and deferred messages are counted as they are recorded', async () => {
  const { broadcastId } = await mixedBatch();
  const { kept, found } = await counts(broadcastId);
  expect(kept).toEqual(found);
  expect(kept).toMatchObject([{ sent: 6, failed: 1, bounced: 1, skipped: 1, deferred: 2 }]);
});

test('a deferred message leaves its count when it is sent, also with another template', async () => {
  const batch = await mixedBatch();
  given.sink.behaviour.replies = [];
  await makeDue(batch.broadcastId);
  await given.sender.sendBatch({ ...batch, plan: { ...batch.plan, templateId: 'winner' } });
  const { kept, found } = await counts(batch.broadcastId);
  expect(kept).toEqual(found);
  expect(kept).toMatchObject([{ deferred: 0 }, { template_id: 'winner', sent: 2, deferred: 0 }]);
});

test('a deferred message to a deleted contact is counted as skipped', async () => {
  const { broadcastId } = await mixedBatch();
  const dataJson = JSON.stringify({ contact: { email: 'p2@example.com' } });
  const events = [{ type: 'contact.deleted', dataJson }];
  await given.events.consumeEvents({ workspaceId, batchId: crypto.randomUUID(), events });
  const { kept, found } = await counts(broadcastId);
  expect(kept).toEqual(found);
  expect(kept).toMatchObject([{ skipped: 2, deferred: 1 }]);
});

test('a message without an answer is counted once, however often it is tried', async () => {
  given.world.unknownRetries = 2;
  given.sink.behaviour.dropAfterDot = 2;
  const batch = batchOf(people(1));
  await given.sender.sendBatch(batch);
  for (let attempt = 0; attempt < 2; attempt += 1) {
    await makeDue(batch.broadcastId);
    await given.sender.sendBatch(batch);
  }
  const { kept, found } = await counts(batch.broadcastId);
  expect(kept).toEqual(found);
  expect(kept).toMatchObject([{ unknown: 1 }]);
});

test('broadcastStats reads no messages', async () => {
  const { broadcastId } = await mixedBatch();
  await sql('delete from messages where broadcast_id = $1', broadcastId);
  const { stats } = await given.messages.getBroadcastStats({ workspaceId, broadcastId });
  expect(stats).toMatchObject({ totalSent: 6, totalFailed: 1, totalSkipped: 1, totalDeferred: 2 });
});

test('messages that an older version did not count are counted once, by the first look', async () => {
  const { broadcastId } = await mixedBatch();
  await sql(
    'update variation_counts set failed = 0, skipped = 0, deferred = 0 where broadcast_id = $1',
    broadcastId,
  );
  await sql(
    "insert into uncounted_broadcasts values ('w1', $1, now() - interval '2 hours')",
    broadcastId,
  );
  const looks = Array.from({ length: 5 }, () =>
    given.messages.getBroadcastStats({ workspaceId, broadcastId }),
  );
  for (const { stats } of await Promise.all(looks)) {
    expect(stats).toMatchObject({
      totalSent: 6,
      totalFailed: 1,
      totalSkipped: 1,
      totalDeferred: 2,
    });
  }
  expect(await sql('select 1 from uncounted_broadcasts')).toEqual([]);
});
