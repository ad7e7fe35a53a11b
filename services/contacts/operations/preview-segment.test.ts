import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { MessageFactKind } from '#gen/postrider/messages/v1/facts_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { givenLists, useService } from '../test/given.ts';
import { and, happened, type JsonNode, or, treeMessage, where } from '../test/segment-tree.ts';
import { givenContacts } from '../test/segments.ts';

const given = useService();

test('preview shows the first addresses and counts all, without making a segment', async () => {
  const workspaceId = await givenLists(given);
  await givenContacts(given, workspaceId, { cid: {}, ann: {}, bob: {}, dan: { country: 'DE' } });
  const tree = treeMessage(where('country', 'is_not_set'));
  const answer = await given.segments.previewSegment({ workspaceId, tree, limit: 2 });
  expect(answer).toMatchObject({
    emails: ['ann@example.com', 'bob@example.com'],
    totalCount: 3,
    limit: 2,
  });
  expect((await given.segments.listSegments({ workspaceId })).segments).toEqual([]);
  const nobody = treeMessage(where('country', 'equals', ['XX']));
  expect(await given.segments.previewSegment({ workspaceId, tree: nobody })).toMatchObject({
    emails: [],
    totalCount: 0,
    limit: 10,
  });
});

test('a tree that reads messages is previewed, too', async () => {
  const workspaceId = await givenLists(given);
  await givenContacts(given, workspaceId, { ann: {}, bob: {} });
  const opened = { kind: MessageFactKind.OPENED, templateId: 't', at: given.clock.now };
  given.facts.push({ workspaceId, email: 'bob@example.com', ...opened });
  const preview = (tree: JsonNode) =>
    given.segments.previewSegment({ workspaceId, tree: treeMessage(tree) });
  const { emails } = await preview(happened('open_email', 'at_least', 1));
  expect(emails).toEqual(['bob@example.com']);
  expect((await preview(happened('open_email', 'exactly', 0))).emails).toEqual(['ann@example.com']);
});

test('a day in a JSON field begins in the zone, also by a name that PostgreSQL does not know', async () => {
  const workspaceId = await givenLists(given);
  await givenContacts(given, workspaceId, { ann: { customJson1: { due: '2026-03-01' } } });
  const inField = { field_type: 'time', json_path: ['due'] };
  const after = (time: string) =>
    treeMessage(where('custom_json_1', 'after_date', [time], inField));
  const count = async (time: string) => {
    const preview = { workspaceId, tree: after(time), timezone: 'US/Pacific-New' };
    return (await given.segments.previewSegment(preview)).totalCount;
  };
  expect(await count('2026-03-01T07:59:59Z')).toBe(1);
  expect(await count('2026-03-01T08:00:00Z')).toBe(0);
});

test('a tree that takes too long is refused', async () => {
  const workspaceId = await givenLists(given);
  await givenContacts(given, workspaceId, { ann: {} });
  // Another transaction holds the table for longer than an evaluation may take.
  const holder = given.context.store.fork();
  await holder.transactional(async (em) => {
    await query(em, 'lock table contacts in access exclusive mode', []);
    const tree = treeMessage(where('country', 'is_set'));
    await expect(given.segments.previewSegment({ workspaceId, tree })).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: 'tree takes longer than 10 seconds to evaluate',
    });
  });
}, 30_000);

const nested = (levels: number): JsonNode =>
  levels === 1 ? where('country', 'is_set') : and(nested(levels - 1));

test('the largest tree is evaluated, and a larger one refused with the place', async () => {
  const workspaceId = await givenLists(given);
  await givenContacts(given, workspaceId, { ann: { country: 'DE' } });
  const leaves = (count: number) =>
    Array.from({ length: count }, (_, place) =>
      happened('custom_event.seen', 'at_least', place + 1, {
        timeframe_operator: 'in_the_last_days',
        timeframe_values: [String(place)],
      }),
    );
  const preview = (tree: JsonNode) =>
    given.segments.previewSegment({ workspaceId, tree: treeMessage(tree) });
  expect(await preview(or(...leaves(49)))).toMatchObject({ totalCount: 0 });
  expect(await preview(nested(8))).toMatchObject({ totalCount: 1 });
  await expect(preview(or(...leaves(50)))).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'tree.branch.leaves[49]: a tree has at most 50 nodes',
  });
  await expect(preview(nested(9))).rejects.toMatchObject({
    rawMessage: expect.stringMatching(
      /^tree(\.branch\.leaves\[0\]){8}: a tree has at most 8 levels$/,
    ),
  });
});
