import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { SuppressionSchema } from '#gen/postrider/messages/v1/suppressions_pb.ts';
import type { StoredSuppression } from '../suppressions/store.ts';

export function toSuppression({
  email,
  reason,
  note,
  created_at: createdAt,
  expires_at: expiresAt,
}: StoredSuppression): MessageInitShape<typeof SuppressionSchema> {
  return {
    email,
    reason,
    note: note ?? undefined,
    createdAt: timestampFromDate(new Date(createdAt)),
    expiresAt: expiresAt === null ? undefined : timestampFromDate(new Date(expiresAt)),
  };
}
