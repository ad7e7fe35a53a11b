import { expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { broadcastMessageId } from '../message.ts';
import { claim } from '../record/claims.ts';
import { batchOf, people, resetAfterEach, useService } from '../test/given.ts';

const given = useService();
resetAfterEach(given);

type Batch = ReturnType<typeof batchOf>;
const ask = ({ workspaceId, broadcastId, emails }: Batch) =>
  given.sender.getBatchOutcomes({ workspaceId, broadcastId, emails });

/** Has a process that is gone have claimed messages, under a lease that is alive. */
async function claimFor({ workspaceId, broadcastId }: Batch, emails: string[]): Promise<void> {
  const group = {
    ...{ workspaceId, broadcastId, listId: 'weekly', templateId: 't', templateVersion: 1 },
    ...{ integrationId: 'i', isByHand: false },
  };
  const claimants = emails.map((email) => ({
    id: broadcastMessageId(workspaceId, broadcastId, email),
    email,
    skipReason: '',
  }));
  await claim(given.store, crypto.randomUUID(), group, { claimants, areNew: true });
}

test('getBatchOutcomes counts as sendBatch does, and sends nothing', async () => {
  given.sink.behaviour.replies = [
    { step: 'rcpt', recipient: '^p1@', reply: '450 4.2.0 greylisted', times: 1 },
    { step: 'rcpt', recipient: '^p2@', reply: '550 5.1.1 no such user' },
  ];
  given.world.skipReasons.set('p3@example.com', 'unsubscribed');
  const batch = batchOf(people(5));
  const answer = await given.sender.sendBatch(batch);
  expect(answer).toMatchObject({ sent: 2, deferred: 1, failed: 1, skipped: 1 });
  const taken = given.sink.total();
  const more = await ask({ ...batch, emails: people(7) });
  expect(more).toMatchObject({ outcomes: { ...answer, notStarted: 2 }, inFlight: 0 });
  await query(given.store.fork(), 'update messages set due_at = now() where broadcast_id = $1', [
    batch.broadcastId,
  ]);
  expect((await ask(batch)).outcomes).toMatchObject({ deferred: 1, notStarted: 0 });
  expect(given.sink.total()).toBe(taken);
});

test('getBatchOutcomes distinguishes messages in flight from those of a dead process', async () => {
  const batch = batchOf(people(5, 'q'));
  await claimFor(batch, people(3, 'q'));
  expect(await ask(batch)).toMatchObject({ outcomes: { notStarted: 5 }, inFlight: 3 });
  await query(
    given.store.fork(),
    "update messages set lease_until = now() - interval '1 second' where broadcast_id = $1",
    [batch.broadcastId],
  );
  expect(await ask(batch)).toMatchObject({ outcomes: { notStarted: 5 }, inFlight: 0 });
});

test('getBatchOutcomes reads no other broadcast or workspace', async () => {
  const batch = batchOf(people(2));
  await given.sender.sendBatch(batch);
  const nothing = { outcomes: { sent: 0, notStarted: 2 }, inFlight: 0 };
  expect(await ask({ ...batch, broadcastId: 'other' })).toMatchObject(nothing);
  expect(await ask({ ...batch, workspaceId: 'w2' })).toMatchObject(nothing);
});
