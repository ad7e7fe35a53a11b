import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import { type ContactList, ContactListSchema } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { timestampSql } from '#lib/postgres/time-sql.ts';

/**
 * SQL of a row of `memberships`, called `membership`, with its `list`, in the JSON of its message.
 */
export const contactListSql = `json_build_object(
  'email', membership.email,
  'list_id', membership.list_id,
  'list_name', list.name,
  'status', 'MEMBERSHIP_STATUS_' || upper(membership.status),
  'created_at', ${timestampSql('membership.created_at')},
  'updated_at', ${timestampSql('membership.updated_at')}
)`;

export function contactListMessage(json: string): ContactList {
  const value: JsonValue = JSON.parse(json);
  return fromJson(ContactListSchema, value);
}
