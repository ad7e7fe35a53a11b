import { query } from '#lib/postgres/query.ts';
import { treeJson } from '../segments/segment.ts';
import type { Given } from './given.ts';
import { type JsonNode, treeMessage } from './segment-tree.ts';

type Wish = { workspaceId: string; id: string; tree: JsonNode; members?: string[] };

/** Stores a segment that is complete, with these members, whomever its tree matches. */
export async function givenSegment(
  { context }: Given,
  { workspaceId, id, tree, members = [] }: Wish,
): Promise<void> {
  const em = context.store.fork();
  await query(
    em,
    `insert into segments (workspace_id, id, name, color, tree, timezone, version, status, reads, created_at, updated_at)
     values ($1, $2, 'Segment', 'red', $3, 'UTC', 1, 'active', '{*}', now(), now())`,
    [workspaceId, id, JSON.stringify(treeJson(treeMessage(tree)))],
  );
  await query(
    em,
    `insert into segment_members (workspace_id, segment_id, email, version, matched_at)
     select $1, $2, email, 1, now() from unnest($3::text[]) as email`,
    [workspaceId, id, members],
  );
}

/** Marks a segment as deleted, as `segments.delete` does before its members leave. */
export async function deleteSegment(
  { context }: Given,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<void> {
  await query(
    context.store.fork(),
    `update segments set status = 'deleted' where workspace_id = $1 and id = $2`,
    [workspaceId, id],
  );
}
