import type { MessageInitShape } from '@bufbuild/protobuf';
import type { VariationStatsSchema } from '#gen/postrider/messages/v1/messages_pb.ts';

export type VariationStatsRow = {
  broadcast_id: string;
  template_id: string;
  sent: number;
  delivered: number;
  opened: number;
  clicked: number;
  bounced: number;
  complained: number;
  unsubscribed: number;
  from_domain: string;
};

export function toVariationStats({
  broadcast_id: broadcastId,
  template_id: templateId,
  from_domain: fromDomain,
  ...counts
}: VariationStatsRow): MessageInitShape<typeof VariationStatsSchema> {
  return { broadcastId, templateId, fromDomain, ...counts };
}
