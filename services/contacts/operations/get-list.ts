import type { Context, Methods } from '../context.ts';
import { type ListRow, listColumns, listNotFound } from '../list.ts';
import { listMessage } from '../views/list.ts';

export function getList({ store }: Context): Methods['getList'] {
  return async ({ workspaceId, id }) => {
    const [row] = await store.read<ListRow>(
      `select ${listColumns} from lists
       where workspace_id = $1 and id = $2 and deleted_at is null`,
      [workspaceId, id],
    );
    if (!row) throw listNotFound();
    return { list: listMessage(row) };
  };
}
