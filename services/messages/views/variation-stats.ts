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
};

export function toVariationStats({
  broadcast_id: broadcastId,
  template_id: templateId,
  ...counts
}: VariationStatsRow): MessageInitShape<typeof VariationStatsSchema> {
  return { broadcastId, templateId, ...counts };
}
