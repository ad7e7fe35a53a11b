import { query } from '#lib/postgres/query.ts';
import type { Context, Methods } from '../context.ts';
import { toVariationStats, type VariationStatsRow } from '../views/variation-stats.ts';

export function listVariationStats({ store }: Context): Methods['listVariationStats'] {
  return async ({ workspaceId, broadcastIds }) => {
    const rows = await query<VariationStatsRow>(
      store.fork(),
      `select broadcast_id, template_id, sum(sent)::int as sent, sum(delivered)::int as delivered,
         sum(opened)::int as opened, sum(clicked)::int as clicked, sum(bounced)::int as bounced,
         sum(complained)::int as complained, sum(unsubscribed)::int as unsubscribed,
         coalesce(min(from_domain), '') as from_domain
       from variation_counts left join broadcast_senders using (workspace_id, broadcast_id, template_id)
       where workspace_id = $1 and broadcast_id = any($2::text[])
       group by broadcast_id, template_id
       order by broadcast_id, template_id`,
      [workspaceId, broadcastIds],
    );
    return { stats: rows.map(toVariationStats) };
  };
}
