import { query } from '#lib/postgres/query.ts';
import type { Context, Methods } from '../context.ts';

type LinkRow = { url: string; clicks: number; link_count: number };

export function listBroadcastLinks({ store }: Context): Methods['listBroadcastLinks'] {
  return async ({ workspaceId, broadcastId, limit }) => {
    const rows = await query<LinkRow>(
      store.fork(),
      `select url, sum(clicks)::int as clicks, (count(*) over ())::int as link_count
       from link_clicks where workspace_id = $1 and broadcast_id = $2 and clicks > 0
       group by url order by 2 desc, url limit $3`,
      [workspaceId, broadcastId, limit],
    );
    return {
      links: rows.map(({ url, clicks }) => ({ url, clicks })),
      linkCount: rows[0]?.link_count ?? 0,
    };
  };
}
