import type { Context, Methods } from '../context.ts';
import { type ListRow, listColumns } from '../list.ts';
import { listMessage } from '../views/list.ts';

const listsMax = 1_000;

export function listLists({ store }: Context): Methods['listLists'] {
  return async ({ workspaceId, limit = listsMax }) => {
    const rows = await store.read<ListRow>(
      `select ${listColumns} from lists
       where workspace_id = $1 and deleted_at is null
       order by created_at desc, id limit $2`,
      [workspaceId, limit],
    );
    return { lists: rows.map(listMessage) };
  };
}
