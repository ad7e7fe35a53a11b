import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { type MessageRow, messageColumns } from '../message-queries.ts';
import { type Cursor, lowestId } from './cursor.ts';
import type { Filters } from './filters.ts';

/** The most rows that a page looks at, and those of the same claim as the last. */
export const lookedAtMax = 5_000;

type HistoryRow = MessageRow & { cursor_time: string; is_wanted: boolean; is_end: boolean };

/**
 * Reads the next messages, newest first. A page that has looked at many rows ends there: it may be short, or empty, and
 * still have a next one.
 */
export async function readHistoryPage(
  store: Store,
  filters: Filters,
  { limit, after }: { limit: number; after: Cursor | undefined },
): Promise<{ messages: MessageRow[]; next: Cursor | undefined }> {
  const { text, values } = historySql(filters, { limit, after });
  const rows = await query<HistoryRow>(store.fork(), text, values);
  const wanted = rows.filter((row) => row.is_wanted);
  const messages = wanted.slice(0, limit);
  const last = messages.at(-1);
  if (wanted.length > limit && last) {
    return { messages, next: { time: last.cursor_time, id: last.id } };
  }
  // All rows of its time were looked at.
  const end = rows.find((row) => row.is_end);
  return { messages, next: end && { time: end.cursor_time, id: lowestId } };
}

/** Ordered by time alone until the last step: that is the order of the indexes, so nothing is sorted before the limits. */
export function historySql(
  { within, wanted, values: given }: Filters,
  { limit, after }: { limit: number; after: Cursor | undefined },
): { text: string; values: unknown[] } {
  const values = after ? [...given, after.time, after.id] : given;
  const below = after
    ? [`(created_at, id) < ($${values.length - 1}::timestamptz, $${values.length}::uuid)`]
    : [];
  const conditions = ['workspace_id = $1', ...within, ...below].join(' and ');
  const isWanted = wanted.length > 0 ? wanted.join(' and ') : 'true';
  const text = `
    select ${messageColumns}, is_wanted, place = ${lookedAtMax} as is_end,
      -- Keeps the microseconds that a Date would lose.
      to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as cursor_time
    from (
      select *, ${isWanted} as is_wanted from (
        select *, row_number() over (order by created_at desc) as place
        from messages where ${conditions}
        order by created_at desc fetch first ${lookedAtMax} rows with ties
      ) looked_at
      where (${isWanted}) or place = ${lookedAtMax}
      order by created_at desc fetch first ${limit + 1} rows with ties
    ) found
    order by created_at desc, id desc`;
  return { text, values };
}
