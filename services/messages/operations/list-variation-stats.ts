import type { ServiceImpl } from '@connectrpc/connect';
import type { BroadcastSendService } from '#gen/postrider/messages/v1/messages_pb.ts';
import { query } from '#lib/store.ts';
import type { Context } from '../context.ts';

type Row = {
  broadcast_id: string;
  template_id: string;
  sent: number;
  delivered: number;
  opened: number;
  clicked: number;
  bounced: number;
  complained: number;
  unsubscribed: number;
};

export function listVariationStats({
  store,
}: Context): ServiceImpl<typeof BroadcastSendService>['listVariationStats'] {
  return async ({ workspaceId, broadcastIds }) => {
    const rows = await query<Row>(
      store.fork(),
      `select broadcast_id, template_id, count(sent_at)::int as sent, count(delivered_at)::int as delivered,
         count(opened_at)::int as opened, count(clicked_at)::int as clicked, count(bounced_at)::int as bounced,
         count(complained_at)::int as complained, count(unsubscribed_at)::int as unsubscribed
       from messages where workspace_id = $1 and broadcast_id = any($2::text[])
       group by broadcast_id, template_id
       order by broadcast_id, template_id`,
      [workspaceId, broadcastIds],
    );
    return {
      stats: rows.map(({ broadcast_id: broadcastId, template_id: templateId, ...counts }) => ({
        broadcastId,
        templateId,
        ...counts,
      })),
    };
  };
}
