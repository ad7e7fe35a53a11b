import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { type Contact, ContactSchema } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { changeAndTell, type Outbox } from '#lib/outbox.ts';
import type { EntityManager } from '#lib/store.ts';
import { columnTypes, contactFields, readable } from './contact-fields.ts';
import type { ContactRow } from './contact-input.ts';
import { contactListSql, standingSql } from './contact-list-queries.ts';

/** What becomes of a field of a contact that exists. */
export const keepNulls = (name: string) => `coalesce(excluded.${name}, contacts.${name})`;
export const keepAll = (name: string) => `contacts.${name}`;
export const writeNulls = (name: string) => `excluded.${name}`;

/**
 * Creates or changes contacts in one statement and gives the addresses that are new. Only the named
 * fields are touched, and a contact that has them already is not written. Rows are taken by address,
 * so that parallel calls can't deadlock, and all are held until the end of the transaction.
 */
export async function upsertContacts(
  em: EntityManager,
  outbox: Outbox,
  workspaceId: string,
  given: {
    rows: readonly ContactRow[];
    names: ReadonlySet<string>;
    assign: (name: string) => string;
    at: Date;
  },
): Promise<Set<string>> {
  const fields = contactFields.filter(({ name }) => given.names.has(name));
  const names = fields.map(({ name }) => `, ${name}`).join('');
  const columns = fields.map(({ name, kind }) => `, ${name} ${columnTypes[kind]}`).join('');
  const sets = fields.map(({ name }) => `, ${name} = ${given.assign(name)}`).join('');
  const differs = fields.map(
    ({ name }) => `contacts.${name} is distinct from ${given.assign(name)}`,
  );
  const answer = await changeAndTell<{ created: string | null }>(em, outbox, workspaceId, {
    // A row that this statement has inserted has no xmax; one that it has updated has.
    steps: `written as (
       insert into contacts (workspace_id, email, created_at, updated_at${names})
       select $1, email, $3, $3${names}
       from json_to_recordset($2::json) as row (email text${columns})
       order by email collate "C"
       on conflict (workspace_id, email) do update set updated_at = excluded.updated_at${sets}
         where ${differs.join(' or ') || 'false'}
       returning *, xmax = 0 as is_new
     ),
     events as (
       select case when is_new then 'contact.created' else 'contact.updated' end as type,
         $3::timestamptz as occurred_at, ${contactDataSql} as data
       from written contact
     )`,
    answer: '(select json_agg(email)::text from written where is_new) as created',
    values: [workspaceId, JSON.stringify(given.rows), given.at],
  });
  const created: string[] = JSON.parse(answer?.created ?? '[]');
  return new Set(created);
}

const membershipsSql = `(
  select json_agg(${contactListSql} order by membership.list_id)
  from ${standingSql}
  where (membership.workspace_id, membership.email) = (contact.workspace_id, contact.email)
)`;

/** A row as JSON costs a third of an object that is built field by field. */
function jsonSql(...more: string[]): string {
  const fields = [...readable].map(([name, sql]) => `${sql} as ${name}`);
  return `(select row_to_json(row) from (select ${[...fields, ...more].join(', ')}) row)`;
}

/** What the events of a contact say. */
export const contactDataSql = `json_build_object('contact', ${jsonSql()})`;

/** SQL of a row of `contacts`, called `contact`, in the JSON that its message is read from. */
export const contactSql = `${jsonSql()}::text`;
export const contactWithListsSql = `${jsonSql(`${membershipsSql} as contact_lists`)}::text`;

export function contactNotFound(): ConnectError {
  return new ConnectError('Contact not found', Code.NotFound);
}

export function contactMessage(json: string): Contact {
  const value: JsonValue = JSON.parse(json);
  return fromJson(ContactSchema, value);
}
