import type { JsonValue } from '@bufbuild/protobuf';
import type { ConnectError } from '@connectrpc/connect';
import { ContactCreatedSchema, ContactUpdatedSchema } from '#gen/postrider/events/v1/contact_pb.ts';
import { refusal } from '#lib/errors/reasons.ts';
import { typeOf } from '#lib/events/contracts.ts';
import { isWanted } from '#lib/events/interests.ts';
import { type EventScope, writeWithEvents } from '#lib/events/outbox.ts';
import { largeMessageBytes, ownTurn } from '#lib/limits/turns.ts';
import type { Quotas } from '#lib/quotas/quotas.ts';
import { binaryArray } from '../binary-array.ts';
import { entryStep } from '../changes/entries.ts';
import { momentSql, momentStep } from '../changes/moment.ts';
import { touches, touchStep } from '../changes/touch.ts';
import { restoreSteps } from '../consent/refusals.ts';
import {
  columnTypes,
  contactChangesSql,
  contactFields,
  contactJsonSql,
  readable,
} from './fields.ts';
import type { ContactRow } from './input.ts';

type Upsert = {
  rows: readonly ContactRow[];
  at: Date;
  /**
   * Fields that are cleared on an existing contact if its row has no value; all others are kept.
   */
  cleared?: readonly string[];
  /** Leaves contacts that exist as they are. */
  skipExisting?: boolean;
  /**
   * Does not lock contacts that it leaves as they are: nothing else in the transaction is about
   * them.
   */
  locksChangedOnly?: boolean;
};

/** The quotas learn of new contacts. */
type ContactScope = EventScope & { quotas: Pick<Quotas, 'grew'> };

/**
 * Creates or changes contacts in one statement and returns the new addresses. An unchanged contact
 * is not written. Rows are locked in the order of addresses, so that parallel calls can't deadlock,
 * until the end of the transaction.
 */
export async function upsertContacts(scope: ContactScope, upsert: Upsert): Promise<Set<string>> {
  const values = await valuesOf(scope, upsert);
  const answer = await writeWithEvents<{ created: string | null }>(scope, upsertChange, values);
  const created: string[] = JSON.parse(answer?.created ?? '[]');
  scope.quotas.grew(scope.workspaceId, 'contacts', created.length);
  return new Set(created);
}

/**
 * The same, and reads the contacts as they are then: all values of `readable`, in its order, by
 * address. A contact that another transaction wrote meanwhile is missing, as is a skipped one.
 */
export async function upsertAndRead(
  scope: ContactScope,
  upsert: Upsert,
): Promise<Map<string, JsonValue[]>> {
  const values = await valuesOf(scope, upsert);
  const answer = await writeWithEvents<{ found: string | null; created: number }>(
    scope,
    readingChange,
    values,
  );
  scope.quotas.grew(scope.workspaceId, 'contacts', answer?.created ?? 0);
  const found: [email: string, values: JsonValue[] | null][] = JSON.parse(answer?.found ?? '[]');
  return new Map(found.flatMap(([email, values]) => (values ? [[email, values]] : [])));
}

const readableSql = `json_build_array(${[...readable.values()].join(', ')})`;

/** The data of a contact event. */
export const contactDataSql = `json_build_object('contact', ${contactJsonSql()})`;

async function valuesOf(
  { workspaceId }: EventScope,
  { rows, at, cleared = [], skipExisting = false, locksChangedOnly = false }: Upsert,
): Promise<unknown[]> {
  const columns = await columnsOf(rows);
  const given = contactFields.filter((_, index) => columns[index + 1] !== null);
  const names = [...new Set([...cleared, ...given.map(({ name }) => name), 'updated_at'])];
  const touched = [touches.contact, ...names.map(touches.field)];
  return [workspaceId, at, cleared, skipExisting, ...columns, touched, locksChangedOnly];
}

/**
 * The address and the fields, an array for each; null where no row has a value, which costs next to
 * nothing.
 */
async function columnsOf(rows: readonly ContactRow[]): Promise<(Buffer | null)[]> {
  const emails = rows.map(({ email }) => email);
  const columns = [binaryArray('text', emails)];
  for (const [index, { kind }] of contactFields.entries()) {
    const values = rows.map((row) => row.values[index]);
    const column = binaryArray(columnTypes[kind], values);
    columns.push(column);
    if (column && column.length > largeMessageBytes) await ownTurn();
  }
  return columns;
}

const names = contactFields.map(({ name }) => `, ${name}`).join('');
const arrays = contactFields.map(({ kind }, index) => `, $${index + 6}::${columnTypes[kind]}[]`);
const touched = `$${contactFields.length + 6}::text[]`;
const locksChangedOnly = `$${contactFields.length + 7}::boolean`;

/** SQL of what a field of `contact` becomes by a row. */
const valueSql = (name: string, row: string) =>
  `case when '${name}' = any($3::text[]) then ${row}.${name} else coalesce(${row}.${name}, contact.${name}) end`;
/** SQL that is true if a row changes `contact`. */
const isChangedBy = (row: string) =>
  contactFields
    .map(({ name }) => `contact.${name} is distinct from ${valueSql(name, row)}`)
    .join(' or ');

const [created, updated] = [typeOf(ContactCreatedSchema), typeOf(ContactUpdatedSchema)];
const types = [created, updated];

// An update can return the old row only from PostgreSQL 18 on, so this is the row as it was when
// the statement began.
const changedSql = `(
    select ${contactChangesSql('before', 'contact')} from contacts before
    where before.workspace_id = $1 and before.email = contact.email
  )`;

// Names every field, so that the statement is the same for all requests: planning costs five times
// as much as a row. Inserted rows have no xmax, updated ones have. The data is made here, since a
// row in a step costs as much as its JSON.
const upsertSteps = (returned = '') => `written as (
    insert into contacts as contact (workspace_id, email, created_at, updated_at${names})
    select $1, email, $2, $2${names}
    from unnest($5::text[]${arrays.join('')}) as given (email${names})
    -- A row that would not change is not locked, and then nothing is written.
    where not (${locksChangedOnly} and exists (
      select from contacts contact
      where contact.workspace_id = $1 and contact.email = given.email and not (${isChangedBy('given')})
    ))
    order by email collate "C"
    on conflict (workspace_id, email) do update set updated_at = excluded.updated_at
      ${contactFields.map(({ name }) => `, ${name} = ${valueSql(name, 'excluded')}`).join('')}
      where not $4::boolean and (${isChangedBy('excluded')})
    returning email, contact.xmax = 0 as is_new, case when ${isWanted(types)} then ${contactDataSql} end as data,
      case when contact.xmax <> 0 then ${changedSql} end as changes${returned}
  ),
  ${entryStep({
    workspace: '$1',
    at: '$2',
    rows: `select email, 'contact.updated' as kind, null as entity_id, changes from written where changes is not null`,
  })},
  ${touchStep({
    workspace: '$1',
    rows: `select email, case when is_new then '{${touches.all}}' else ${touched} end as touched from written`,
  })},
  ${restoreSteps('$1')},
  ${momentStep('written')}`;

const events = [
  {
    types,
    type: `case when is_new then '${created}' else '${updated}' end`,
    occurredAt: momentSql,
    data: 'data',
    from: 'written',
  },
];

const upsertChange = {
  steps: upsertSteps(),
  events,
  answer: '(select json_agg(email)::text from written where is_new) as created',
  isPrepared: true,
};

const readingChange = {
  steps: upsertSteps(`, ${readableSql} as fields`),
  events,
  // A row that differs and was not written has waited for a transaction that this snapshot lacks.
  answer: `(
    select json_agg(json_build_array(asked.email, coalesce(written.fields, (
      select ${readableSql} from contacts contact
      where workspace_id = $1 and email = asked.email and not (${isChangedBy('asked')})
    ))))::text
    from unnest($5::text[]${arrays.join('')}) as asked (email${names}) left join written using (email)
  ) as found, (select count(*) from written where is_new)::int as created`,
  isPrepared: true,
};

export function contactNotFound(): ConnectError {
  return refusal('CONTACT_NOT_FOUND', 'Contact not found');
}
