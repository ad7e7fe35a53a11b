import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { pushInterests } from '#lib/events/interest-pushes.ts';
import { query } from '#lib/postgres/query.ts';
import { messageInterests } from '../segments/interests.ts';
import { emptySegment } from '../tasks/empty-segment.ts';
import { takeEvents } from '../test/events.ts';
import { givenLists, useService } from '../test/given.ts';
import { happened, or, where } from '../test/segment-tree.ts';
import { givenContacts, givenSegment } from '../test/segments.ts';

const given = useService();
const id = 'people';

test('a deleted segment is hidden at once, its contacts leave it, and nothing of it stays', async () => {
  const workspaceId = await givenLists(given);
  await givenContacts(given, workspaceId, { ann: {}, bob: {} });
  const tree = or(where('email', 'is_set'), happened('open_email', 'at_least', 1));
  await givenSegment(given, { workspaceId, id, tree });
  await takeEvents(given, { consumer: 'webhooks', workspaceId });
  await given.segments.deleteSegment({ workspaceId, id });
  const { segments } = await given.segments.listSegments({ workspaceId });
  expect(segments).toEqual([]);
  for (const call of [
    () => given.segments.getSegment({ workspaceId, id }),
    () => given.segments.deleteSegment({ workspaceId, id }),
    () => given.segments.rebuildSegment({ workspaceId, segmentId: id }),
    () => given.segments.listSegmentContacts({ workspaceId, segmentId: id }),
  ]) {
    await expect(call()).rejects.toMatchObject({ code: Code.NotFound });
  }
  const email = 'ann@example.com';
  const { contact } = await given.contacts.getContactByEmail({ workspaceId, email });
  expect(contact?.contactSegments).toEqual([]);
  await emptySegment(given.context)({ workspaceId, id });
  await pushInterests(messageInterests, given.context.producers, given.context)({ workspaceId });
  expect(given.messageInterests.get(workspaceId)).not.toContain('email.opened');
  const events = await takeEvents(given, { consumer: 'webhooks', workspaceId });
  expect(events.map(({ type, data }) => [type, data.email, data.segment_id])).toEqual([
    ['segment.left', 'ann@example.com', id],
    ['segment.left', 'bob@example.com', id],
  ]);
  const rows = await query(
    given.context.store.fork(),
    `select id from segments where workspace_id = $1
     union all select email from segment_members where workspace_id = $1`,
    [workspaceId],
  );
  expect(rows).toEqual([]);
});
