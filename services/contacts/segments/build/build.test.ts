import { expect, test } from '@jest/globals';
import { SegmentStatus } from '#gen/postrider/contacts/v1/segments_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { beginBuilds } from '../../tasks/begin-builds.ts';
import { takeEvents } from '../../test/events.ts';
import { givenLists, useService } from '../../test/given.ts';
import { treeMessage, where } from '../../test/segment-tree.ts';
import {
  buildAll,
  givenContacts,
  givenSegment,
  look,
  membersOf,
  moveAll,
} from '../../test/segments.ts';
import { findSegment } from '../segment.ts';
import { type BuildOptions, buildSegment, readBuild } from './build.ts';
import { buildPage } from './page.ts';
import { nextRecompute } from './recompute.ts';

const given = useService();
const id = 'people';

async function givenBuild(count = 30): Promise<string> {
  const workspaceId = await givenLists(given);
  const names = Array.from({ length: count }, (_, place) => `p${place + 10}`);
  const people = Object.fromEntries(names.map((name) => [name, { country: 'DE' }]));
  await givenContacts(given, workspaceId, people);
  const tree = treeMessage(where('country', 'equals', ['DE']));
  await given.segments.createSegment({ ...look, workspaceId, id, tree });
  return workspaceId;
}

async function onePage(workspaceId: string, buildId?: string, size = 10): Promise<boolean> {
  const row = await findSegment(given.context.store.fork(), { workspaceId, id });
  return buildPage(
    given.context,
    { workspaceId, id },
    { buildId: buildId ?? row.build_id ?? '', size },
  );
}

const options = (over: Partial<BuildOptions> = {}): BuildOptions => ({
  until: new Date(Date.now() + 60_000),
  signal: new AbortController().signal,
  heartbeat: () => {},
  ...over,
});

test('a build goes on after the last page that was committed', async () => {
  const workspaceId = await givenBuild();
  expect(await onePage(workspaceId)).toBe(true);
  expect(await readBuild(given.context, { workspaceId, id })).toMatchObject({
    count: 10,
    contacts: 30,
  });
  const { segment } = await given.segments.getSegment({ workspaceId, id });
  expect(segment).toMatchObject({ buildCount: 10, usersCount: 10 });
  expect(await buildAll(given, { workspaceId, id }, 10)).toBe(3);
  expect(await membersOf(given, { workspaceId, id })).toHaveLength(30);
  const events = await takeEvents(given, { consumer: 'webhooks', workspaceId });
  expect(events.filter(({ type }) => type === 'segment.joined')).toHaveLength(30);
});

test('the newer of two concurrent builds ends, and the older one writes nothing more', async () => {
  const workspaceId = await givenBuild();
  const { build_id: older } = await findSegment(given.context.store.fork(), { workspaceId, id });
  await onePage(workspaceId);
  const tree = treeMessage(where('email', 'equals', ['p11@example.com']));
  await given.segments.updateSegment({ ...look, workspaceId, id, tree });
  expect(await onePage(workspaceId, older ?? '')).toBe(false);
  expect(await membersOf(given, { workspaceId, id })).toHaveLength(10);
  await buildAll(given, { workspaceId, id }, 10);
  expect(await membersOf(given, { workspaceId, id })).toEqual(['p11']);
  const { segment } = await given.segments.getSegment({ workspaceId, id });
  expect(segment).toMatchObject({ version: 2, status: SegmentStatus.ACTIVE });
});

test('members without a contact leave, wherever their address sorts', async () => {
  const workspaceId = await givenBuild();
  await buildAll(given, { workspaceId, id });
  await query(
    given.context.store.fork(),
    `insert into segment_members (workspace_id, segment_id, email, version, matched_at)
     select $1, $2, email, 1, now() from unnest('{a@a.example,p15x@example.com,z@z.example}'::text[]) email`,
    [workspaceId, id],
  );
  await given.segments.rebuildSegment({ workspaceId, segmentId: id });
  await buildAll(given, { workspaceId, id }, 7);
  expect(await membersOf(given, { workspaceId, id })).toHaveLength(30);
});

test('a build waits for writers that may not know the segment', async () => {
  const workspaceId = await givenLists(given);
  const tree = treeMessage(where('country', 'equals', ['DE']));
  let built: Promise<boolean> | undefined;
  let beats = 0;
  const writer = given.context.store.fork();
  await writer.transactional(async (em) => {
    await query(
      em,
      `insert into contacts (workspace_id, email, country, created_at, updated_at)
       values ($1, 'late@example.com', 'DE', now(), now())`,
      [workspaceId],
    );
    await given.segments.createSegment({ ...look, workspaceId, id, tree });
    const beaten = new Promise<void>((resolve) => {
      const heartbeat = () => {
        beats += 1;
        if (beats === 4) resolve();
      };
      built = buildSegment(given.context, { workspaceId, id }, options({ heartbeat }));
    });
    await beaten;
    expect(await membersOf(given, { workspaceId, id })).toEqual([]);
  });
  expect(await built).toBe(false);
  expect(await membersOf(given, { workspaceId, id })).toEqual(['late']);
});

test('the build of a deleted segment ends', async () => {
  const workspaceId = await givenBuild();
  await given.segments.deleteSegment({ workspaceId, id });
  expect(await readBuild(given.context, { workspaceId, id })).toBeNull();
  expect(await buildSegment(given.context, { workspaceId, id }, options())).toBe(false);
});

test('a tree that cannot be evaluated fails its build with the reason, and a new tree repairs it', async () => {
  const workspaceId = await givenBuild();
  await query(
    given.context.store.fork(),
    `update segments set tree = '{"kind":"SEGMENT_NODE_KIND_LEAF"}' where workspace_id = $1`,
    [workspaceId],
  );
  expect(await buildSegment(given.context, { workspaceId, id }, options())).toBe(false);
  const { segments } = await given.segments.listSegments({ workspaceId });
  expect(segments).toMatchObject([
    {
      status: SegmentStatus.FAILED,
      statusInfo: "its tree is invalid: tree: leaf node must have 'leaf' field",
    },
  ]);
  const tree = treeMessage(where('country', 'equals', ['DE']));
  await given.segments.updateSegment({ ...look, workspaceId, id, tree });
  await buildAll(given, { workspaceId, id });
  const { segment } = await given.segments.getSegment({ workspaceId, id });
  expect(segment).toMatchObject({ status: SegmentStatus.ACTIVE, usersCount: 30 });
  expect(segment?.statusInfo).toBeUndefined();
});

test('relative dates are computed again when they are due, with the same version and status', async () => {
  given.clock.now = new Date('2030-01-01T12:00:00Z');
  const workspaceId = await givenLists(given);
  await givenContacts(given, workspaceId, { ann: {} });
  await givenSegment(given, {
    workspaceId,
    id,
    tree: where('created_at', 'in_the_last_days', ['2']),
  });
  expect(await membersOf(given, { workspaceId, id })).toEqual(['ann']);
  given.clock.now = new Date('2030-01-03T12:00:01Z');
  await beginBuilds(given.context)();
  const { segment } = await given.segments.getSegment({ workspaceId, id });
  expect(segment).toMatchObject({ version: 1, status: SegmentStatus.ACTIVE, buildCount: 0 });
  expect(segment?.recomputeAfter?.seconds).toBe(BigInt(Date.UTC(2030, 0, 4, 5) / 1_000));
  await beginBuilds(given.context)();
  await buildAll(given, { workspaceId, id });
  expect(await membersOf(given, { workspaceId, id })).toEqual([]);
  await moveAll(given, workspaceId);
});

test.each([
  ['UTC', '2030-01-01T04:59:59Z', '2030-01-01T05:00:00Z'],
  ['UTC', '2030-01-01T05:00:00Z', '2030-01-02T05:00:00Z'],
  // The clock goes forward in the night before, and back in the night before.
  ['Europe/Berlin', '2030-03-30T12:00:00Z', '2030-03-31T03:00:00Z'],
  ['Europe/Berlin', '2030-10-26T12:00:00Z', '2030-10-27T04:00:00Z'],
  ['Asia/Kathmandu', '2030-01-01T00:00:00Z', '2030-01-01T23:15:00Z'],
  // The day was skipped.
  ['Pacific/Apia', '2011-12-30T09:00:00Z', '2011-12-30T15:00:00Z'],
])('in %s the 05:00 after %s is %s', (zone, now, next) => {
  expect(nextRecompute(zone, new Date(now))).toEqual(new Date(next));
});
