import { fromJson, type JsonValue, toJson } from '@bufbuild/protobuf';
import type { ConnectError } from '@connectrpc/connect';
import { type SegmentNode, SegmentNodeSchema } from '#gen/postrider/contacts/v1/segments_pb.ts';
import { refusal } from '#lib/errors/reasons.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { readTree } from './tree/read-tree.ts';
import type { Tree } from './tree/tree.ts';

export type SegmentKey = { workspaceId: string; id: string };

/** A row of `segments`, as PostgreSQL returns it. */
export type SegmentRow = {
  id: string;
  name: string;
  color: string;
  tree: JsonValue;
  timezone: string;
  version: number;
  status: 'building' | 'active' | 'failed' | 'deleted';
  status_info: string | null;
  reads: string[];
  recompute_after: string | null;
  build_id: string | null;
  build_after: string | null;
  build_count: number | null;
  created_at: string;
  updated_at: string;
};

export const segmentColumns = `id, name, color, tree, timezone, version, status, status_info, reads, recompute_after,
  build_id, build_after, build_count, created_at, updated_at`;

export function segmentNotFound(): ConnectError {
  return refusal('SEGMENT_NOT_FOUND', 'Segment not found');
}

/** A segment, unless it is deleted. */
export async function findSegment(
  em: EntityManager,
  { workspaceId, id }: SegmentKey,
  { isLocked = false } = {},
): Promise<SegmentRow> {
  const [row] = await query<SegmentRow>(
    em,
    `select ${segmentColumns} from segments where workspace_id = $1 and id = $2 and status <> 'deleted'
     ${isLocked ? 'for update' : ''}`,
    [workspaceId, id],
  );
  if (!row) throw segmentNotFound();
  return row;
}

/** All segments but deleted ones, newest first. */
export function listRows(em: EntityManager, workspaceId: string): Promise<SegmentRow[]> {
  return query<SegmentRow>(
    em,
    `select ${segmentColumns} from segments where workspace_id = $1 and status <> 'deleted'
     order by created_at desc, id`,
    [workspaceId],
  );
}

/** The segments that changes which touch these keys can move contacts into and out of. */
export function segmentsReading(
  em: EntityManager,
  workspaceId: string,
  touched: readonly string[],
): Promise<SegmentRow[]> {
  return query<SegmentRow>(
    em,
    `select ${segmentColumns} from segments
     where workspace_id = $1 and status in ('building', 'active') and reads && $2::text[] order by id`,
    [workspaceId, touched],
  );
}

export function treeOf({ tree, timezone }: Pick<SegmentRow, 'tree' | 'timezone'>): Tree {
  return readTree(nodeOf(tree), timezone);
}

export function nodeOf(tree: JsonValue): SegmentNode {
  return fromJson(SegmentNodeSchema, tree, { ignoreUnknownFields: true });
}

/** A tree as it is stored. */
export function treeJson(node: SegmentNode): JsonValue {
  return toJson(SegmentNodeSchema, node, { useProtoFieldName: true });
}
