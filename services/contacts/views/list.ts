import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { ListSchema } from '#gen/postrider/contacts/v1/lists_pb.ts';
import { camelKeys } from '#lib/json/camel-keys.ts';
import type { ListRow } from '../list.ts';

export function listMessage(row: ListRow): MessageInitShape<typeof ListSchema> {
  return {
    id: row.id,
    name: row.name,
    isDoubleOptin: row.is_double_optin,
    isPublic: row.is_public,
    description: row.description,
    doubleOptinTemplate: row.double_optin_template ?? undefined,
    welcome: row.welcome ? camelKeys(row.welcome) : undefined,
    createdAt: timestampFromDate(new Date(row.created_at)),
    updatedAt: timestampFromDate(new Date(row.updated_at)),
  };
}
