import { Code, ConnectError } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { SegmentStatus } from '#gen/postrider/contacts/v1/segments_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { takeEvents } from '../../test/events.ts';
import { givenLists, useService } from '../../test/given.ts';
import { happened, or, where } from '../../test/segment-tree.ts';
import { givenContacts, givenSegment, membersOf } from '../../test/segments.ts';
import type { MessageFacts } from '../facts.ts';
import { Mover } from './mover.ts';

const given = useService();

async function waitFor(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 20));
}

const waiting = async (workspaceId: string) => {
  const [row] = await query<{ count: number }>(
    given.context.store.fork(),
    'select count(*)::int as count from segment_changes where workspace_id = $1',
    [workspaceId],
  );
  return row?.count ?? 0;
};

test('moves contacts of several workspaces while it runs, and stops', async () => {
  const mover = new Mover(given.context);
  const workspaces = [await givenLists(given), await givenLists(given), await givenLists(given)];
  for (const workspaceId of workspaces) {
    await givenSegment(given, { workspaceId, id: 'a', tree: where('country', 'is_set') });
  }
  mover.start();
  for (const workspaceId of workspaces) {
    await givenContacts(given, workspaceId, { ann: { country: 'DE' }, bob: {} });
  }
  for (const workspaceId of workspaces) {
    await waitFor(async () => (await waiting(workspaceId)) === 0);
    expect(await membersOf(given, { workspaceId, id: 'a' })).toEqual(['ann']);
  }
  await mover.stop();
  const [workspaceId = ''] = workspaces;
  await givenContacts(given, workspaceId, { bob: { country: 'DE' } });
  expect(await waiting(workspaceId)).toBe(1);
});

test('two movers publish each change once, however often they meet', async () => {
  const workspaceId = await givenLists(given);
  await givenSegment(given, { workspaceId, id: 'a', tree: where('country', 'is_set') });
  const movers = [new Mover(given.context), new Mover(given.context)];
  for (const mover of movers) mover.start();
  const names = Array.from({ length: 200 }, (_, place) => `p${place}`);
  for (let from = 0; from < names.length; from += 10) {
    const some = names.slice(from, from + 10).map((name) => [name, { country: 'DE' }]);
    await givenContacts(given, workspaceId, Object.fromEntries(some));
  }
  await waitFor(async () => (await waiting(workspaceId)) === 0);
  await Promise.all(movers.map((mover) => mover.stop()));
  const events = await takeEvents(given, { consumer: 'webhooks', workspaceId });
  const joined = events
    .filter(({ type }) => type === 'segment.joined')
    .map(({ data }) => data.email);
  expect(joined.toSorted()).toEqual(names.map((name) => `${name}@example.com`).toSorted());
});

test('a segment that cannot be evaluated is marked failed, and the others go on', async () => {
  const workspaceId = await givenLists(given);
  await givenSegment(given, { workspaceId, id: 'good', tree: where('country', 'is_set') });
  await givenSegment(given, { workspaceId, id: 'bad', tree: where('country', 'is_set') });
  await query(
    given.context.store.fork(),
    `update segments set tree = '{"kind":"SEGMENT_NODE_KIND_LEAF"}' where workspace_id = $1 and id = 'bad'`,
    [workspaceId],
  );
  const mover = new Mover(given.context);
  mover.start();
  await givenContacts(given, workspaceId, { ann: { country: 'DE' } });
  await waitFor(async () => (await waiting(workspaceId)) === 0);
  await mover.stop();
  expect(await membersOf(given, { workspaceId, id: 'good' })).toEqual(['ann']);
  const { segments } = await given.segments.listSegments({ workspaceId });
  expect(segments.find(({ id }) => id === 'bad')).toMatchObject({
    status: SegmentStatus.FAILED,
    statusInfo: expect.stringMatching(/^its tree is invalid/),
  });
}, 30_000);

test('while messages is away only the segments that ask it wait, and they catch up', async () => {
  const workspaceId = await givenLists(given);
  await givenSegment(given, { workspaceId, id: 'plain', tree: where('country', 'is_set') });
  const asks = or(where('country', 'is_set'), happened('open_email', 'at_least', 1));
  await givenSegment(given, { workspaceId, id: 'asks', tree: asks });
  let calls = 0;
  const facts = {
    isAway: true,
    async countMessageFacts(...call: Parameters<MessageFacts['countMessageFacts']>) {
      calls += 1;
      if (facts.isAway) throw new ConnectError('messages is away', Code.Unavailable);
      return given.context.messageFacts.countMessageFacts(...call);
    },
  };
  const mover = new Mover({ ...given.context, messageFacts: facts });
  mover.start();
  for (const name of ['ann', 'bob', 'cid']) {
    await givenContacts(given, workspaceId, { [name]: { country: 'DE' } });
    await waitFor(async () => (await waiting(workspaceId)) === 0);
  }
  expect(await membersOf(given, { workspaceId, id: 'plain' })).toEqual(['ann', 'bob', 'cid']);
  expect(await membersOf(given, { workspaceId, id: 'asks' })).toEqual([]);
  expect(calls).toBeLessThan(5);
  facts.isAway = false;
  await waitFor(async () => (await membersOf(given, { workspaceId, id: 'asks' })).length === 3);
  await mover.stop();
}, 30_000);
