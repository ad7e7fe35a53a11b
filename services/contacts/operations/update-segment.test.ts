import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { SegmentStatus } from '#gen/postrider/contacts/v1/segments_pb.ts';
import { givenLists, useService } from '../test/given.ts';
import { happened, treeMessage, where } from '../test/segment-tree.ts';
import { buildAll, givenContacts, givenSegment, look, membersOf } from '../test/segments.ts';

const given = useService();
const id = 'people';

async function givenPeople(): Promise<string> {
  const workspaceId = await givenLists(given);
  await givenContacts(given, workspaceId, { ann: { country: 'DE' }, bob: { country: 'FR' } });
  await givenSegment(given, { workspaceId, id, tree: where('country', 'equals', ['DE']) });
  return workspaceId;
}

test('another tree is a new version; until it is built who was in stays in', async () => {
  const workspaceId = await givenPeople();
  const tree = treeMessage(where('country', 'equals', ['FR']));
  const { segment } = await given.segments.updateSegment({ ...look, workspaceId, id, tree });
  expect(segment).toMatchObject({
    version: 2,
    status: SegmentStatus.BUILDING,
    usersCount: 1,
    tree,
  });
  expect(await membersOf(given, { workspaceId, id })).toEqual(['ann']);
  await buildAll(given, { workspaceId, id });
  expect(await membersOf(given, { workspaceId, id })).toEqual(['bob']);
  const { segment: built } = await given.segments.getSegment({ workspaceId, id });
  expect(built).toMatchObject({ version: 2, status: SegmentStatus.ACTIVE, usersCount: 1 });
  expect(built?.buildCount).toBeUndefined();
});

test('another name or color is no new version, another zone is one', async () => {
  const workspaceId = await givenPeople();
  const tree = treeMessage(where('country', 'equals', ['DE']));
  const renamed = { ...look, workspaceId, id, tree, name: 'Germans', color: '#fff' };
  const { segment } = await given.segments.updateSegment(renamed);
  expect(segment).toMatchObject({ name: 'Germans', color: '#fff', version: 1 });
  expect(segment?.status).toBe(SegmentStatus.ACTIVE);
  const moved = await given.segments.updateSegment({ ...renamed, timezone: 'Asia/Tokyo' });
  expect(moved.segment?.version).toBe(2);
});

test('interests of a new tree are pushed to messages, and unused ones are removed later', async () => {
  const workspaceId = await givenPeople();
  const clicked = treeMessage(happened('click_email', 'at_least', 1));
  await given.segments.updateSegment({ ...look, workspaceId, id, tree: clicked });
  expect(given.messageInterests.get(workspaceId)).toContain('email.clicked');
});

test('a tree that matches nobody empties the segment', async () => {
  const workspaceId = await givenPeople();
  const tree = treeMessage(where('country', 'equals', ['XX']));
  await given.segments.updateSegment({ ...look, workspaceId, id, tree });
  await buildAll(given, { workspaceId, id });
  expect(await membersOf(given, { workspaceId, id })).toEqual([]);
});

test('a segment of another workspace is not found', async () => {
  await givenPeople();
  const workspaceId = await givenLists(given);
  const tree = treeMessage(where('country', 'is_set'));
  await expect(
    given.segments.updateSegment({ ...look, workspaceId, id, tree }),
  ).rejects.toMatchObject({ code: Code.NotFound, rawMessage: 'Segment not found' });
});
