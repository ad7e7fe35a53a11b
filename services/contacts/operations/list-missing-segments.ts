import { missingSegments } from '../audience/segments.ts';
import type { Context, Methods } from '../context.ts';

export function listMissingSegments({ store }: Context): Methods['listMissingSegments'] {
  return async ({ workspaceId, segmentIds }) => ({
    segmentIds: await missingSegments(store.fork(), workspaceId, segmentIds),
  });
}
