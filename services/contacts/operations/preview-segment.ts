import type { Context, Methods } from '../context.ts';
import { readGivenTree } from '../segments/tree/read-given-tree.ts';

const limitDefault = 10;

export function previewSegment(context: Context): Methods['previewSegment'] {
  return async ({ workspaceId, tree, timezone, limit = limitDefault }) => {
    const asked = { workspaceId, tree: readGivenTree(tree, timezone || 'UTC'), limit };
    const { emails, total } = await context.tryOuts.run(context, asked);
    return { emails, totalCount: total, limit };
  };
}
