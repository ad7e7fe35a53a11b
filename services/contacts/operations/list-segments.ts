import type { Context, Methods } from '../context.ts';
import { countMembers } from '../segments/members.ts';
import { listRows } from '../segments/segment.ts';
import { segmentMessage } from '../views/segment.ts';

export function listSegments({ store }: Context): Methods['listSegments'] {
  return async ({ workspaceId, withCount, limit }) => {
    const em = store.fork();
    const rows = (await listRows(em, workspaceId)).slice(0, limit);
    const counts = withCount ? await countMembers(em, workspaceId) : new Map<string, number>();
    return { segments: rows.map((row) => segmentMessage(row, counts.get(row.id) ?? 0)) };
  };
}
