import { buildPage } from '../segments/build/page.ts';
import { moveContacts } from '../segments/live/move.ts';
import { findSegment, type SegmentKey } from '../segments/segment.ts';
import type { Given } from './given.ts';
import { type JsonNode, treeMessage } from './segment-tree.ts';

export const look = { name: 'Segment', color: 'red', timezone: 'UTC' };

/** Creates a segment and builds it. */
export async function givenSegment(
  given: Given,
  { workspaceId, id, tree }: SegmentKey & { tree: JsonNode },
): Promise<void> {
  await given.segments.createSegment({ ...look, workspaceId, id, tree: treeMessage(tree) });
  await buildAll(given, { workspaceId, id });
}

/** Builds page after page, as the workflow does, without waiting for older writers. */
export async function buildAll(
  { context }: Given,
  { workspaceId, id }: SegmentKey,
  size = 10_000,
): Promise<number> {
  for (let pages = 0; ; pages += 1) {
    const { build_id } = await findSegment(context.store.fork(), { workspaceId, id });
    if (!build_id) return pages;
    await buildPage(context, { workspaceId, id }, { buildId: build_id, size });
  }
}

/** Moves contacts until no change waits. */
export async function moveAll({ context }: Given, workspaceId: string): Promise<void> {
  while ((await moveContacts(context, { workspaceId, changesMax: 1_000 }))?.taken !== 0);
}

/** The members of a segment, without the domain of their addresses. */
export async function membersOf({ segments }: Given, { workspaceId, id }: SegmentKey) {
  const { emails } = await segments.listSegmentContacts({
    workspaceId,
    segmentId: id,
    limit: 1_000,
  });
  return emails.map((email) => email.slice(0, email.indexOf('@')));
}

/** Contacts by the part of their address before the `@`. */
export async function givenContacts(
  { contacts }: Given,
  workspaceId: string,
  people: Record<string, object>,
): Promise<void> {
  await contacts.importContacts({
    workspaceId,
    contacts: Object.entries(people).map(([name, fields]) => ({
      email: `${name}@example.com`,
      ...fields,
    })),
  });
}
