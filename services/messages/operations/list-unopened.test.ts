import { create } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { ListUnopenedRequestSchema } from '#gen/postrider/messages/v1/facts_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { batchOf, people, resetAfterEach, useService } from '../test/given.ts';

const given = useService();
resetAfterEach(given);

type Batch = ReturnType<typeof batchOf>;

async function unopened({ workspaceId, broadcastId, emails }: Batch): Promise<string[]> {
  const request = create(ListUnopenedRequestSchema, { workspaceId, broadcastId, emails });
  return (await given.facts.listUnopened(request)).emails.toSorted();
}

const set = (email: string | undefined, change: string) =>
  query(given.store.fork(), `update messages set ${change} where contact_email = $1`, [email]);

test('listUnopened has those to whom a mail was sent that no person opened and that did not bounce', async () => {
  given.sink.behaviour.replies = [
    { step: 'rcpt', recipient: '^u1@', reply: '450 4.2.0 greylisted' },
    { step: 'rcpt', recipient: '^u2@', reply: '550 5.1.1 no such user' },
  ];
  given.world.skipReasons.set('u3@example.com', 'unsubscribed');
  const batch = batchOf(people(10, 'u'));
  await given.sender.sendBatch(batch);
  await set('u4@example.com', 'opened_at = now()');
  await set('u5@example.com', 'clicked_at = now()');
  await set('u6@example.com', 'bounced_at = now()');
  await set('u7@example.com', 'bot_opened_at = now(), bot_clicked_at = now()');
  const emails = [...batch.emails, 'nobody@example.com', 'u0@example.com', ''];
  expect(await unopened({ ...batch, emails })).toEqual(
    ['u0', 'u7', 'u8', 'u9'].map((name) => `${name}@example.com`),
  );
});

test('listUnopened reads no other broadcast, no other workspace, and nothing of an erased contact', async () => {
  const batch = batchOf(people(2, 'e'));
  await given.sender.sendBatch(batch);
  expect(await unopened({ ...batch, broadcastId: 'other' })).toEqual([]);
  expect(await unopened({ ...batch, workspaceId: 'w2' })).toEqual([]);
  await set('e0@example.com', "contact_email = ''");
  expect(await unopened(batch)).toEqual(['e1@example.com']);
});

test('listUnopened refuses more than 10,000 addresses', async () => {
  const emails = people(10_001, 'x');
  const refused = given.facts.listUnopened({ workspaceId: 'w', broadcastId: 'b', emails });
  await expect(refused).rejects.toMatchObject({ code: Code.InvalidArgument });
});
