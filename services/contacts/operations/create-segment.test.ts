import type { MessageInitShape } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import {
  SegmentBranchOperator,
  SegmentNodeKind,
  type SegmentNodeSchema,
  SegmentSource,
  SegmentStatus,
} from '#gen/postrider/contacts/v1/segments_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { serviceClaims } from '../../../test/setup/service.ts';
import { givenLists, useService } from '../test/given.ts';
import { happened, inList, treeMessage, where } from '../test/segment-tree.ts';
import { buildAll, givenContacts, look, membersOf } from '../test/segments.ts';

const given = useService();

const germans = treeMessage(where('country', 'equals', ['DE']));

test('create answers a segment that is being built, and its run is woken', async () => {
  const workspaceId = await givenLists(given);
  await givenContacts(given, workspaceId, { ann: { country: 'DE' } });
  const { segment } = await given.segments.createSegment({
    ...look,
    workspaceId,
    id: 'germans',
    tree: germans,
  });
  expect(segment).toMatchObject({
    id: 'germans',
    version: 1,
    status: SegmentStatus.BUILDING,
    buildCount: 0,
    usersCount: 0,
    tree: germans,
  });
  expect(segment?.recomputeAfter).toBeUndefined();
  const jobs = await query<{ payload: object }>(
    given.context.store.fork(),
    `select payload from contacts_jobs._private_jobs job where key = $1`,
    [`segment/${workspaceId}/germans`],
  );
  expect(jobs).toEqual([{ payload: { workspaceId, id: 'germans' } }]);
  await buildAll(given, { workspaceId, id: 'germans' });
  expect(await membersOf(given, { workspaceId, id: 'germans' })).toEqual(['ann']);
});

test('a tree with relative dates is computed again at the next 05:00 of its zone', async () => {
  const workspaceId = await givenLists(given);
  given.clock.now = new Date('2030-03-30T12:00:00Z');
  const tree = treeMessage(where('created_at', 'in_the_last_days', ['7']));
  const { segment } = await given.segments.createSegment({
    ...look,
    workspaceId,
    id: 'new',
    tree,
    timezone: 'Europe/Berlin',
  });
  // Summer time begins in the night of the 31st.
  expect(segment?.recomputeAfter?.seconds).toBe(BigInt(Date.UTC(2030, 2, 31, 3) / 1_000));
});

test('the same id is taken, and the same call with the same key is answered again', async () => {
  const workspaceId = await givenLists(given);
  const request = { ...look, workspaceId, id: 'germans', tree: germans };
  const { segments } = given.as(serviceClaims, { 'idempotency-key': 'a-key-of-the-caller' });
  const first = await segments.createSegment(request);
  expect(await segments.createSegment(request)).toEqual(first);
  await expect(given.segments.createSegment(request)).rejects.toMatchObject({
    code: Code.AlreadyExists,
  });
});

test('a workspace has at most 500 segments', async () => {
  const workspaceId = await givenLists(given);
  await query(
    given.context.store.fork(),
    `insert into segments (workspace_id, id, name, color, tree, timezone, version, status, reads, created_at, updated_at)
     select $1, 's' || n, 'Segment', 'red', '{}', 'UTC', 1, 'active', '{*}', now(), now() from generate_series(1, 500) n`,
    [workspaceId],
  );
  await expect(
    given.segments.createSegment({ ...look, workspaceId, id: 'one', tree: germans }),
  ).rejects.toMatchObject({
    code: Code.ResourceExhausted,
    rawMessage: expect.stringContaining('the workspace has 500 of at most 500 segments'),
  });
});

test('messages knows what a tree reads before create answers; while it is down no segment is made', async () => {
  const workspaceId = await givenLists(given);
  given.clock.beforeInterest = () => Promise.reject(new Error('messages is down'));
  const tree = treeMessage(happened('open_email', 'at_least', 1));
  const create = () => given.segments.createSegment({ ...look, workspaceId, id: 'keen', tree });
  await expect(create()).rejects.toThrow();
  delete given.clock.beforeInterest;
  await create();
  expect(given.messageInterests.get(workspaceId)).toContain('email.opened');
});

const ofGermany = treeMessage(where('country', 'equals', ['DE'])).leaf?.contact;
const ofWeekly = treeMessage(inList('weekly')).leaf?.contactList;
const twoConditions = {
  kind: SegmentNodeKind.LEAF,
  leaf: { source: SegmentSource.CONTACTS, contact: ofGermany!, contactList: ofWeekly! },
};
const branch = { operator: SegmentBranchOperator.AND, leaves: [germans, twoConditions] };

test.each<[string, MessageInitShape<typeof SegmentNodeSchema>, string]>([
  [
    'two conditions in a leaf',
    twoConditions,
    'tree.leaf.contact_list: the source of the leaf is another one',
  ],
  [
    'two conditions deep in it',
    { kind: SegmentNodeKind.BRANCH, branch },
    'tree.branch.leaves[1].leaf.contact_list: the source of the leaf is another one',
  ],
  [
    'a leaf that is a branch, too',
    { kind: germans.kind, leaf: germans.leaf!, branch },
    "tree.branch: a node of kind 'leaf' must have no 'branch'",
  ],
])('a tree with %s is refused, as one of them would be ignored', async (_, tree, text) => {
  const workspaceId = await givenLists(given);
  const request = { ...look, workspaceId, id: 'germans', tree };
  await expect(given.segments.createSegment(request)).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: expect.stringContaining(text),
  });
});

test.each([
  [{ id: 'Upper' }, 'id must contain only lowercase letters, numbers, and underscores'],
  [{ id: 'a'.repeat(33) }, 'id length must be between 1 and 32'],
  [{ name: '' }, 'name is required'],
  [{ color: 'c'.repeat(51) }, 'color length must be between 1 and 50'],
  [{ timezone: '' }, 'timezone is required'],
  [{ timezone: 'Mars/Olympus' }, 'invalid timezone: Mars/Olympus'],
  [{ tree: undefined }, 'tree is required'],
])('create with %j is refused: %s', async (over, text) => {
  const workspaceId = await givenLists(given);
  const request = { ...look, workspaceId, id: 'germans', tree: germans, ...over };
  await expect(given.segments.createSegment(request)).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: text,
  });
});
