import type { MessageInitShape } from '@bufbuild/protobuf';
import type { TimelineEntrySchema } from '#gen/postrider/contacts/v1/timeline_pb.ts';
import type { OwnEntry } from '../timeline/own-entries.ts';
import { timestampOf } from '../timeline/position.ts';

export function timelineEntryMessage(
  email: string,
  { id, operation, entityType, kind, changes, entityId, entityData, time }: OwnEntry,
): MessageInitShape<typeof TimelineEntrySchema> {
  return {
    id,
    email,
    operation,
    entityType,
    kind,
    changes: changes ?? {},
    entityId: entityId ?? undefined,
    entityData: entityData ?? undefined,
    createdAt: timestampOf(time),
  };
}
