import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import { type Contact, ContactSchema } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { timestampSql } from '#lib/postgres/time-sql.ts';
import { liveMembershipsSql } from '../consent/membership.ts';
import { contactJsonSql } from '../contact/fields.ts';
import { contactListSql } from './contact-list.ts';

const membershipsSql = `(
  select json_agg(${contactListSql} order by membership.list_id)
  from ${liveMembershipsSql}
  where (membership.workspace_id, membership.email) = (contact.workspace_id, contact.email)
)`;

const segmentsSql = `(
  select json_agg(json_build_object(
    'email', member.email,
    'segment_id', member.segment_id,
    'version', member.version,
    'matched_at', ${timestampSql('member.matched_at')},
    'computed_at', ${timestampSql('greatest(member.matched_at, segment.computed_at)')}
  ) order by member.segment_id)
  from segment_members member
  join segments segment on (segment.workspace_id, segment.id) = (member.workspace_id, member.segment_id)
    and segment.status <> 'deleted'
  where (member.workspace_id, member.email) = (contact.workspace_id, contact.email)
)`;

const withSegments = `${segmentsSql} as contact_segments`;

/** SQL of a row of `contacts`, called `contact`, in the JSON that its message is read from. */
export const contactSql = `${contactJsonSql(withSegments)}::text`;
export const contactWithListsSql = `${contactJsonSql(`${membershipsSql} as contact_lists`, withSegments)}::text`;

export function contactMessage(json: string): Contact {
  const value: JsonValue = JSON.parse(json);
  return fromJson(ContactSchema, value);
}
