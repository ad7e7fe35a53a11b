import type { JsonObject } from '@bufbuild/protobuf';
import { invalidField } from '#lib/errors/errors.ts';
import { isFullTime, readCursor, writeCursor } from './cursor.ts';
import { query } from './query.ts';
import type { Store } from './store.ts';
import { orderedTimeSql } from './time-sql.ts';

/** One thing that is kept about a person. */
export type PersonRecord = { kind: string; data: JsonObject };

/** Some of what is kept about a person. */
export type PersonSource = {
  name: string;
  /** A page from a place on, which is empty for the first; without `next` it is the last. */
  read(place: string): Promise<{ records: PersonRecord[]; next?: string | undefined }>;
};

/** A page of one source after the other; those that have nothing are passed over. */
export async function readPersonRecords(
  sources: readonly PersonSource[],
  cursor: string,
): Promise<{ records: PersonRecord[]; nextCursor?: string }> {
  const start = { index: 0, place: '' };
  let { index, place } =
    cursor === '' ? start : readCursor(cursor, (text) => placeIn(sources, text));
  for (;;) {
    const source = sources[index];
    if (!source) return { records: [] };
    const { records, next } = await source.read(place);
    if (next === undefined) index += 1;
    place = next ?? '';
    const following = sources[index];
    if (!following) return { records };
    if (records.length > 0)
      return { records, nextCursor: writeCursor(`${following.name} ${place}`) };
  }
}

function placeIn(sources: readonly PersonSource[], text: string) {
  const space = text.indexOf(' ');
  const index = sources.findIndex(({ name }) => name === text.slice(0, space));
  return space < 0 || index < 0 ? undefined : { index, place: text.slice(space + 1) };
}

const invalidCursor = () => invalidField('cursor', 'invalid cursor');

/** Rows of a table that belong to an address. */
export type PersonTable = {
  kind: string;
  table: string;
  /** SQL of a row, called `held`, as JSON; all its columns but the workspace if absent. */
  json?: string;
  /**
   * SQL that is true of the address's rows, with the workspace as $1 and the address as $2; `email
   * = $2` if absent.
   */
  where?: string;
  /**
   * SQL of a text that is unique for the address, in the order of its bytes; absent where there is
   * one row.
   */
  key?: string;
  /**
   * SQL of a time of the row, newest first, that comes before the key in the order, where an index
   * has it.
   */
  time?: string;
};

const rowsMax = 50;

/** Reads the rows of a table that belong to an address. */
export function personTable(
  store: Store,
  { workspaceId, email }: { workspaceId: string; email: string },
  { kind, table, json = allColumns, where = 'email = $2', key = `''`, time }: PersonTable,
): PersonSource {
  const order = time ? `${time} desc, bytes` : 'bytes';
  return {
    name: kind,
    async read(place) {
      const values: unknown[] = [workspaceId, email];
      const after = place === '' ? '' : afterSql(time, readPlace(place), values);
      const rows = await query<{ data: string; place: string }>(
        store.fork(),
        `select (${json})::text as data, ${time ? orderedTimeSql(time) : `''`} || ' ' || bytes as place
         from ${table} held cross join lateral (select (${key})::text collate "C" as bytes) as keyed
         where workspace_id = $1 and ${where} ${after} order by ${order} limit ${rowsMax + 1}`,
        values,
      );
      const page = rows.slice(0, rowsMax);
      return {
        records: page.map(({ data }) => ({ kind, data: JSON.parse(data) })),
        next: rows.length > rowsMax ? page.at(-1)?.place : undefined,
      };
    },
  };
}

const allColumns = `to_jsonb(held) - 'workspace_id'`;

/** A place is not secret, and a forged one only moves the start of the page. */
function readPlace(place: string): { at: string; bytes: string } {
  const space = place.indexOf(' ');
  const [at, bytes] = [place.slice(0, Math.max(space, 0)), place.slice(space + 1)];
  const isTime = at === '' || isFullTime(at);
  if (space < 0 || !isTime || bytes.includes('\0')) throw invalidCursor();
  return { at, bytes };
}

function afterSql(
  time: string | undefined,
  { at, bytes }: { at: string; bytes: string },
  values: unknown[],
): string {
  if ((time === undefined) !== (at === '')) throw invalidCursor();
  const bound = (value: unknown) => `$${values.push(value)}`;
  const after = `bytes > ${bound(bytes)}`;
  if (!time) return `and ${after}`;
  const from = `${bound(at)}::timestamptz`;
  return `and ${time} <= ${from} and (${time} < ${from} or ${after})`;
}
