import type { Context, Methods } from '../context.ts';
import { countMembers } from '../segments/members.ts';
import { findSegment } from '../segments/segment.ts';
import { segmentMessage } from '../views/segment.ts';

export function getSegment({ store }: Context): Methods['getSegment'] {
  return async ({ workspaceId, id }) => {
    const em = store.fork();
    const row = await findSegment(em, { workspaceId, id });
    const counts = await countMembers(em, workspaceId, id);
    return { segment: segmentMessage(row, counts.get(id) ?? 0) };
  };
}
