import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { SegmentStatus } from '#gen/postrider/contacts/v1/segments_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { givenLists, useService } from '../test/given.ts';
import { where } from '../test/segment-tree.ts';
import { buildAll, givenContacts, givenSegment, membersOf } from '../test/segments.ts';

const given = useService();
const id = 'people';

test('rebuild computes a segment anew, whatever its members were', async () => {
  const workspaceId = await givenLists(given);
  await givenContacts(given, workspaceId, { ann: { country: 'DE' }, bob: {} });
  await givenSegment(given, { workspaceId, id, tree: where('country', 'is_set') });
  await query(
    given.context.store.fork(),
    `update segment_members set email = 'ghost@example.com' where workspace_id = $1`,
    [workspaceId],
  );
  const answer = await given.segments.rebuildSegment({ workspaceId, segmentId: id });
  expect(answer).toMatchObject({ success: true, message: 'Segment rebuild has been queued' });
  const { segment } = await given.segments.getSegment({ workspaceId, id });
  expect(segment).toMatchObject({ version: 2, status: SegmentStatus.BUILDING });
  await buildAll(given, { workspaceId, id });
  expect(await membersOf(given, { workspaceId, id })).toEqual(['ann']);
});

test('a segment that does not exist is not found', async () => {
  const workspaceId = await givenLists(given);
  await expect(
    given.segments.rebuildSegment({ workspaceId, segmentId: 'none' }),
  ).rejects.toMatchObject({ code: Code.NotFound });
});
