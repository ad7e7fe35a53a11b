import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import { type Contact, ContactSchema } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { liveMembershipsSql } from '../consent/membership.ts';
import { contactJsonSql } from '../contact/fields.ts';
import { contactListSql } from './contact-list.ts';

const membershipsSql = `(
  select json_agg(${contactListSql} order by membership.list_id)
  from ${liveMembershipsSql}
  where (membership.workspace_id, membership.email) = (contact.workspace_id, contact.email)
)`;

/** SQL of a row of `contacts`, called `contact`, in the JSON that its message is read from. */
export const contactSql = `${contactJsonSql()}::text`;
export const contactWithListsSql = `${contactJsonSql(`${membershipsSql} as contact_lists`)}::text`;

export function contactMessage(json: string): Contact {
  const value: JsonValue = JSON.parse(json);
  return fromJson(ContactSchema, value);
}
