import {
  type CreateSegmentRequest,
  SegmentService,
} from '#gen/postrider/contacts/v1/segments_pb.ts';
import { refusal } from '#lib/errors/reasons.ts';
import { changeInterests } from '#lib/events/interest-pushes.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { quotaExceeded } from '#lib/quotas/quotas.ts';
import { once } from '#lib/rpc/server/idempotency.ts';
import type { Context, Methods } from '../context.ts';
import { beginBuild } from '../segments/build/begin.ts';
import { recomputeTime } from '../segments/build/recompute.ts';
import { messageInterests } from '../segments/interests.ts';
import { findSegment, treeJson } from '../segments/segment.ts';
import { readGivenTree } from '../segments/tree/read-given-tree.ts';
import { readsOf, type Tree } from '../segments/tree/tree.ts';
import { segmentMessage } from '../views/segment.ts';

export function createSegment(context: Context): Methods['createSegment'] {
  const { store, producers, quotas, now } = context;
  return async (request, call) => {
    const { workspaceId, id } = request;
    const tree = readGivenTree(request.tree, request.timezone);
    await context.tryOuts.run(context, { workspaceId, tree, limit: 0 });
    const quota = await quotas.quotaOf(workspaceId, 'segments');
    return once(store, call, SegmentService.method.createSegment, request, async (em) => {
      await requirePlace(em, request, quota);
      await changeInterests(messageInterests, producers, { em, workspaceId }, async () => {
        await insert(em, request, tree, now());
        const recomputeAfter = recomputeTime(tree, now());
        await beginBuild(em, { workspaceId, id }, { isNewVersion: true, recomputeAfter });
      });
      return { segment: segmentMessage(await findSegment(em, { workspaceId, id }), 0) };
    });
  };
}

async function requirePlace(
  em: EntityManager,
  { workspaceId, id }: CreateSegmentRequest,
  quota: number,
): Promise<void> {
  // Without it two concurrent calls could both create the last segment.
  await query(em, 'select pg_advisory_xact_lock(hashtext($1))', [`new segment ${workspaceId}`]);
  const [row] = await query<{ count: number; taken: boolean }>(
    em,
    `select count(*)::int as count, coalesce(bool_or(id = $2), false) as taken from segments where workspace_id = $1`,
    [workspaceId, id],
  );
  if (row?.taken) throw refusal('ALREADY_EXISTS', 'Segment already exists');
  const used = row?.count ?? 0;
  if (used >= quota) throw quotaExceeded('segments', { used, quota });
}

async function insert(em: EntityManager, request: CreateSegmentRequest, tree: Tree, at: Date) {
  await query(
    em,
    `insert into segments (workspace_id, id, name, color, tree, timezone, version, status, reads, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, 0, 'building', $7, $8, $8)`,
    [
      request.workspaceId,
      request.id,
      request.name,
      request.color,
      JSON.stringify(request.tree && treeJson(request.tree)),
      request.timezone,
      readsOf(tree),
      at,
    ],
  );
}
