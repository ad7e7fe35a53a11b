import type { Context, Methods } from '../context.ts';
import { readExportedMembers } from '../segments/exported-members.ts';
import { findSegment } from '../segments/segment.ts';

export function exportSegment({ store }: Context): Methods['exportSegment'] {
  return async ({ workspaceId, segmentId, cursor }) => {
    const em = store.fork();
    await findSegment(em, { workspaceId, id: segmentId });
    return readExportedMembers(em, { workspaceId, segmentId, cursor });
  };
}
