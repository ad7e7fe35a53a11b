import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { expect, test } from '@jest/globals';
import { MessageFactKind } from '#gen/postrider/messages/v1/facts_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { emptySegment } from '../../tasks/empty-segment.ts';
import { endMemberships } from '../../tasks/end-memberships.ts';
import { entriesOf } from '../../test/changes.ts';
import { takeEvents } from '../../test/events.ts';
import { givenLists, useService } from '../../test/given.ts';
import { and, goal, happened, inList, or, treeMessage, where } from '../../test/segment-tree.ts';
import {
  buildAll,
  givenContacts,
  givenSegment,
  look,
  membersOf,
  moveAll,
} from '../../test/segments.ts';
import { buildPage } from '../build/page.ts';
import { lockMembers } from '../members.ts';
import { findSegment } from '../segment.ts';
import { moveContacts } from './move.ts';

const given = useService();

const events = async (workspaceId: string) =>
  (await takeEvents(given, { consumer: 'webhooks', workspaceId }))
    .filter(({ type }) => type.startsWith('segment.'))
    .map(({ type, data }) => `${type} ${data.email} ${data.segment_id} ${data.segment_name}`);

test('a change moves a contact in and out, and publishes each move once', async () => {
  const workspaceId = await givenLists(given);
  const id = 'germans';
  await givenContacts(given, workspaceId, { ann: { country: 'DE' }, bob: { country: 'FR' } });
  await givenSegment(given, { workspaceId, id, tree: where('country', 'equals', ['DE']) });
  expect(await membersOf(given, { workspaceId, id })).toEqual(['ann']);
  expect(await events(workspaceId)).toEqual(['segment.joined ann@example.com germans Segment']);
  await givenContacts(given, workspaceId, { ann: { country: 'FR' }, bob: { country: 'DE' } });
  await moveAll(given, workspaceId);
  expect(await membersOf(given, { workspaceId, id })).toEqual(['bob']);
  expect((await events(workspaceId)).toSorted()).toEqual([
    'segment.joined bob@example.com germans Segment',
    'segment.left ann@example.com germans Segment',
  ]);
  await givenContacts(given, workspaceId, { bob: { firstName: 'Bob' } });
  await moveAll(given, workspaceId);
  expect(await events(workspaceId)).toEqual([]);
});

test('a contact that left has both times in its timeline, and nothing is kept of a deleted contact', async () => {
  const workspaceId = await givenLists(given);
  const id = 'germans';
  await givenContacts(given, workspaceId, { ann: { country: 'DE' }, bob: { country: 'DE' } });
  await givenSegment(given, { workspaceId, id, tree: where('country', 'is_set') });
  await given.contacts.deleteContact({ workspaceId, email: 'bob@example.com' });
  await query(
    given.context.store.fork(),
    `update segments set status = 'failed' where workspace_id = $1 and id = $2`,
    [workspaceId, id],
  );
  await moveAll(given, workspaceId);
  expect(await membersOf(given, { workspaceId, id })).toEqual(['ann']);
  expect(await entriesOf(given, workspaceId, 'bob@example.com')).toEqual([]);
  await given.segments.deleteSegment({ workspaceId, id });
  await emptySegment(given.context)({ workspaceId, id });
  const entries = await entriesOf(given, workspaceId, 'ann@example.com');
  expect(entries.map(({ kind, entity_id }) => [kind, entity_id])).toEqual([
    ['segment.joined', id],
    ['segment.left', id],
  ]);
});

test('lists, messages and events move contacts as fields do', async () => {
  const workspaceId = await givenLists(given, 'news');
  const id = 'keen';
  await givenContacts(given, workspaceId, { ann: {}, bob: {}, cid: {} });
  const tree = or(
    and(inList('news'), inList('news', 'not_in', 'bounced')),
    happened('open_email', 'at_least', 1),
  );
  await givenSegment(given, { workspaceId, id, tree });
  expect(await membersOf(given, { workspaceId, id })).toEqual([]);
  expect(given.messageInterests.get(workspaceId)?.toSorted()).toEqual([
    'email.bounced',
    'email.complained',
    'email.opened',
  ]);
  const contact = { email: 'ann@example.com' };
  await given.lists.subscribeContact({ workspaceId, contact, listIds: ['news'] });
  given.facts.push({
    workspaceId,
    email: 'bob@example.com',
    kind: MessageFactKind.OPENED,
    templateId: 't',
    at: given.clock.now,
  });
  await given.events.consumeEvents({
    workspaceId,
    batchId: crypto.randomUUID(),
    events: [{ type: 'email.opened', dataJson: JSON.stringify({ email: 'bob@example.com' }) }],
  });
  await moveAll(given, workspaceId);
  expect(await membersOf(given, { workspaceId, id })).toEqual(['ann', 'bob']);
});

test('only segments that read what was touched are looked at', async () => {
  const workspaceId = await givenLists(given);
  await givenContacts(given, workspaceId, { ann: { country: 'DE' } });
  await givenSegment(given, { workspaceId, id: 'a', tree: where('country', 'is_set') });
  await givenSegment(given, { workspaceId, id: 'b', tree: where('state', 'is_set') });
  await givenContacts(given, workspaceId, { ann: { jobTitle: 'Boss' } });
  expect(await moveContacts(given.context, { workspaceId, changesMax: 10 })).toMatchObject({
    taken: 0,
  });
});

test('a process that holds the workspace keeps the others from writing its members', async () => {
  const workspaceId = await givenLists(given);
  await givenSegment(given, { workspaceId, id: 'a', tree: where('country', 'is_set') });
  await givenContacts(given, workspaceId, { ann: { country: 'DE' } });
  const move = () => moveContacts(given.context, { workspaceId, changesMax: 10 });
  const taken = await given.context.store.fork().transactional(async (em) => {
    await lockMembers(em, workspaceId);
    return move();
  });
  expect(taken).toBeUndefined();
  expect(await move()).toMatchObject({ taken: 1 });
});

test('a change between two pages of a build is not lost, wherever the build is', async () => {
  const workspaceId = await givenLists(given);
  const id = 'germans';
  const people = Object.fromEntries(
    Array.from({ length: 30 }, (_, place) => [`p${place + 10}`, { country: 'DE' }]),
  );
  await givenContacts(given, workspaceId, people);
  const { segments, context } = given;
  const tree = treeMessage(where('country', 'equals', ['DE']));
  await segments.createSegment({ ...look, workspaceId, id, tree });
  const { build_id } = await findSegment(context.store.fork(), { workspaceId, id });
  await buildPage(context, { workspaceId, id }, { buildId: build_id ?? '', size: 10 });
  await givenContacts(given, workspaceId, { p10: { country: 'FR' }, p39: { country: 'FR' } });
  await given.contacts.deleteContact({ workspaceId, email: 'p11@example.com' });
  await given.contacts.deleteContact({ workspaceId, email: 'p38@example.com' });
  await moveAll(given, workspaceId);
  await buildAll(given, { workspaceId, id }, 10);
  await moveAll(given, workspaceId);
  const members = await membersOf(given, { workspaceId, id });
  expect(members).toEqual(Array.from({ length: 26 }, (_, place) => `p${place + 12}`));
});

test('members of a deleted list leave what asks for it, and join what asks for its opposite', async () => {
  const workspaceId = await givenLists(given, 'news');
  await givenContacts(given, workspaceId, { ann: {} });
  await givenSegment(given, { workspaceId, id: 'in', tree: inList('news') });
  await givenSegment(given, { workspaceId, id: 'out', tree: inList('news', 'not_in') });
  const contact = { email: 'ann@example.com' };
  await given.lists.subscribeContact({ workspaceId, contact, listIds: ['news'] });
  await moveAll(given, workspaceId);
  expect(await membersOf(given, { workspaceId, id: 'in' })).toEqual(['ann']);
  expect(await membersOf(given, { workspaceId, id: 'out' })).toEqual([]);
  await given.lists.deleteList({ workspaceId, id: 'news' });
  await endMemberships(given.context)({ workspaceId, listId: 'news' });
  await moveAll(given, workspaceId);
  expect(await membersOf(given, { workspaceId, id: 'in' })).toEqual([]);
  expect(await membersOf(given, { workspaceId, id: 'out' })).toEqual(['ann']);
});

test('a custom event moves its contact, and so does its deletion', async () => {
  const workspaceId = await givenLists(given);
  const id = 'buyers';
  const tree = and(
    goal({ goal_type: 'purchase', aggregate_operator: 'sum', operator: 'gte', value: 10 }),
    happened('custom_event.orders/paid', 'exactly', 1),
  );
  await givenSegment(given, { workspaceId, id, tree });
  const event = {
    workspaceId,
    email: 'ann@example.com',
    eventName: 'orders/paid',
    externalId: '1',
    goalType: 'purchase',
    goalValue: 10,
  };
  await given.customEvents.upsertCustomEvent(event);
  await moveAll(given, workspaceId);
  expect(await membersOf(given, { workspaceId, id })).toEqual(['ann']);
  await given.customEvents.upsertCustomEvent({
    ...event,
    deletedAt: timestampFromDate(given.clock.now),
  });
  await moveAll(given, workspaceId);
  expect(await membersOf(given, { workspaceId, id })).toEqual([]);
});

test('changes with 500 segments are taken in parts that stay small, and all are applied', async () => {
  const workspaceId = await givenLists(given);
  const tree = where('country', 'is_set');
  await givenSegment(given, { workspaceId, id: 'first', tree });
  await query(
    given.context.store.fork(),
    `insert into segments (workspace_id, id, name, color, tree, timezone, version, status, reads, created_at, updated_at)
     select workspace_id, 's' || n, name, color, tree, timezone, version, status, reads, created_at, updated_at
     from segments cross join generate_series(1, 499) n where workspace_id = $1`,
    [workspaceId],
  );
  const names = Array.from({ length: 300 }, (_, place) => `p${place}`);
  const people = names.map((name) => [name, { country: 'DE' }]);
  await givenContacts(given, workspaceId, Object.fromEntries(people));
  expect(await moveContacts(given.context, { workspaceId, changesMax: 1_000 })).toMatchObject({
    taken: 200,
  });
  await moveAll(given, workspaceId);
  const [row] = await query(
    given.context.store.fork(),
    'select count(*)::int as members from segment_members where workspace_id = $1',
    [workspaceId],
  );
  expect(row).toEqual({ members: 150_000 });
}, 60_000);
