import type { Context, Methods } from '../context.ts';
import { readTree } from '../segments/tree/read-tree.ts';

const limitDefault = 10;

export function previewSegment(context: Context): Methods['previewSegment'] {
  return async ({ workspaceId, tree, timezone, limit = limitDefault }) => {
    const asked = { workspaceId, tree: readTree(tree, timezone || 'UTC'), limit };
    const { emails, total } = await context.tryOuts.run(context, asked);
    return { emails, totalCount: total, limit };
  };
}
