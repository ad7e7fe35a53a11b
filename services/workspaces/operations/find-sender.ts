import { query } from '#lib/postgres/query.ts';
import type { Context, Methods } from '../context.ts';

export function findSender({ store }: Context): Methods['findSender'] {
  return async ({ workspaceId, email }) => {
    const [row] = await query<{ id: string }>(
      store.fork(),
      `select id from integrations
       where workspace_id = $1 and exists (
         select from jsonb_array_elements(provider -> 'senders') sender
         where lower(sender ->> 'email') = $2
       )
       order by created_at, id limit 1`,
      [workspaceId, email],
    );
    return { integrationId: row?.id };
  };
}
