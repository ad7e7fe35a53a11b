import type { Context, Methods } from '../context.ts';
import { missingLists } from '../list-queries.ts';

export function listMissingLists({ store }: Context): Methods['listMissingLists'] {
  return async ({ workspaceId, listIds }) => ({
    listIds: await missingLists(store.fork(), workspaceId, listIds),
  });
}
