import { equals } from '@bufbuild/protobuf';
import {
  SegmentNodeSchema,
  type UpdateSegmentRequest,
} from '#gen/postrider/contacts/v1/segments_pb.ts';
import { changeInterests } from '#lib/events/interest-pushes.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { auditedTransaction } from '#lib/rpc/server/audit.ts';
import type { Context, Methods } from '../context.ts';
import { beginBuild } from '../segments/build/begin.ts';
import { recomputeTime } from '../segments/build/recompute.ts';
import { messageInterests } from '../segments/interests.ts';
import { countMembers } from '../segments/members.ts';
import { findSegment, nodeOf, type SegmentRow, treeJson } from '../segments/segment.ts';
import { readGivenTree } from '../segments/tree/read-given-tree.ts';
import { readsOf, type Tree } from '../segments/tree/tree.ts';
import { segmentMessage } from '../views/segment.ts';

export function updateSegment(context: Context): Methods['updateSegment'] {
  const { store, producers, now } = context;
  return async (request, call) => {
    const { workspaceId, id } = request;
    const tree = readGivenTree(request.tree, request.timezone);
    const before = await findSegment(store.fork(), { workspaceId, id });
    if (isOther(before, request)) {
      await context.tryOuts.run(context, { workspaceId, tree, limit: 0 });
    }
    return auditedTransaction(store, call, async (em) => {
      await changeInterests(messageInterests, producers, { em, workspaceId }, async () => {
        const row = await findSegment(em, { workspaceId, id }, { isLocked: true });
        await write(em, request, tree, now());
        if (!isOther(row, request)) return;
        const recomputeAfter = recomputeTime(tree, now());
        await beginBuild(em, { workspaceId, id }, { isNewVersion: true, recomputeAfter });
      });
      const counts = await countMembers(em, workspaceId, id);
      const row = await findSegment(em, { workspaceId, id });
      return { segment: segmentMessage(row, counts.get(id) ?? 0) };
    });
  };
}

/** Whether another set of contacts may match. The zone is part of the tree's dates. */
function isOther(row: SegmentRow, { tree, timezone }: UpdateSegmentRequest): boolean {
  return row.timezone !== timezone || !tree || !equals(SegmentNodeSchema, nodeOf(row.tree), tree);
}

async function write(em: EntityManager, request: UpdateSegmentRequest, tree: Tree, at: Date) {
  await query(
    em,
    `update segments set name = $3, color = $4, tree = $5, timezone = $6, reads = $7, updated_at = $8
     where workspace_id = $1 and id = $2`,
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
