import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { TemplateBlockSchema } from '#gen/postrider/templates/v1/blocks_pb.ts';
import type { TemplateBlock } from '../template-block.ts';

export function toTemplateBlock({
  id,
  name,
  block,
  created_at,
  updated_at,
}: TemplateBlock): MessageInitShape<typeof TemplateBlockSchema> {
  const [created, updated] = [timestampFromDate(created_at), timestampFromDate(updated_at)];
  return { id, name, block, created, updated };
}
