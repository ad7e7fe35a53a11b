import type { ServiceImpl } from '@connectrpc/connect';
import type { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import { query } from '#lib/store.ts';
import type { Context } from '../../context.ts';
import { findList } from '../../list-queries.ts';

export function listAudience({
  store,
}: Context): ServiceImpl<typeof AudienceService>['listAudience'] {
  return async ({ workspaceId, listId, includeUnsubscribed, afterEmail, pageSize }) => {
    const em = store.fork();
    await findList(em, { workspaceId, id: listId });
    const statuses = includeUnsubscribed ? ['active', 'unsubscribed'] : ['active'];
    // One value for the page: rows cost the driver more than the addresses in them.
    const [page] = await query<{ emails: string }>(
      em,
      `select json_agg(email)::text as emails from (
         select email from memberships
         where workspace_id = $1 and list_id = $2 and email > $3
           and status = any($4::text[]) and deleted_at is null
         order by email
         limit $5
       ) page`,
      [workspaceId, listId, afterEmail, statuses, pageSize],
    );
    const emails: string[] = JSON.parse(page?.emails ?? '[]');
    return { emails };
  };
}
