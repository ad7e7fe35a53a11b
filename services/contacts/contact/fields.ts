import { ContactInputSchema } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { timestampSql } from '#lib/postgres/time-sql.ts';
import type { ElementType } from '../binary-array.ts';

export type ContactField = {
  /** In JSON, in the proto and as a column. */
  name: string;
  /** In generated code. */
  property: string;
  kind: 'string' | 'number' | 'datetime' | 'json';
  /** In characters; strings only. */
  lengthMax: number;
};

const properties = new Map(
  ContactInputSchema.fields.map(({ name, localName }) => [name, localName]),
);

function field(kind: ContactField['kind'], name: string, lengthMax = 0): ContactField {
  const property = properties.get(name);
  if (!property) throw new Error(`the proto has no field ${name}`);
  return { name, property, kind, lengthMax };
}

function five(kind: ContactField['kind'], lengthMax = 0): ContactField[] {
  return [1, 2, 3, 4, 5].map((number) => field(kind, `custom_${kind}_${number}`, lengthMax));
}

/** In characters. */
const textLengths = {
  external_id: 255,
  timezone: 50,
  language: 50,
  first_name: 255,
  last_name: 255,
  full_name: 255,
  phone: 50,
  address_line_1: 255,
  address_line_2: 255,
  country: 100,
  postcode: 20,
  state: 100,
  job_title: 255,
};

/**
 * The fields that a caller may set on a contact beside its address: the one table for JSON, SQL and
 * checks.
 */
export const contactFields: readonly ContactField[] = [
  ...Object.entries(textLengths).map(([name, lengthMax]) => field('string', name, lengthMax)),
  ...five('string', 255),
  ...five('number'),
  ...five('datetime'),
  ...five('json'),
];

export const columnTypes: Record<ContactField['kind'], ElementType> = {
  string: 'text',
  number: 'float8',
  datetime: 'timestamptz',
  json: 'jsonb',
};

/** SQL of what can be read of a row of `contacts`, called `contact`, by the public names. */
export const readable: ReadonlyMap<string, string> = new Map([
  ['email', 'contact.email'],
  ...contactFields.map(({ name, kind }): [string, string] => [
    name,
    kind === 'datetime' ? timestampSql(`contact.${name}`) : `contact.${name}`,
  ]),
  ['created_at', timestampSql('contact.created_at')],
  ['updated_at', timestampSql('contact.updated_at')],
]);

/**
 * SQL of a row of `contacts`, called `contact`, as JSON by the public names. A row as JSON costs a
 * third of an object that is built field by field.
 */
export function contactJsonSql(...more: string[]): string {
  const fields = [...readable].map(([name, sql]) => `${sql} as ${name}`);
  return `(select row_to_json(row) from (select ${[...fields, ...more].join(', ')}) row)`;
}

/** In bytes; the log does not keep larger values. */
const loggedJsonMax = 2_048;

/** SQL of a value of the change log: as in the public JSON; null instead of large JSON. */
function loggedSql({ name, kind }: ContactField, row: string): string {
  const value = `${row}.${name}`;
  if (kind === 'datetime') return timestampSql(value);
  return kind === 'json'
    ? `case when octet_length(${value}::text) <= ${loggedJsonMax} then ${value} end`
    : value;
}

/**
 * SQL of what differs between two rows of `contacts`: an object with `old` and `new` by field; null
 * if nothing does.
 */
export function contactChangesSql(before: string, after: string): string {
  const fields = contactFields.map((each) => {
    const pair = `'old', ${loggedSql(each, before)}, 'new', ${loggedSql(each, after)}`;
    return `('${each.name}', case when ${before}.${each.name} is distinct from ${after}.${each.name}
      then jsonb_build_object(${pair}) end)`;
  });
  return `(select jsonb_object_agg(name, change) from (values ${fields.join(', ')}) field (name, change)
    where change is not null)`;
}
