import { composed } from '#lib/postgres/prepared.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { type MessageRow, messageColumns } from '../message-queries.ts';
import { lowestId, type MessageCursor } from './cursor.ts';
import type { AddressRange, Filters } from './filters.ts';

/** The most rows that a page looks at, and those of the same claim as the last. */
export const lookedAtMax = 5_000;

type HistoryRow = MessageRow & { cursor_time: string; is_wanted: boolean; is_end: boolean };

/** Where a page goes on. */
export type MessagePosition = { limit: number; after: MessageCursor | undefined };

/** Some messages, and the cursor of each. */
export type MessagePage = {
  messages: MessageRow[];
  cursors: MessageCursor[];
  next: MessageCursor | undefined;
};

/**
 * Reads the next messages, newest first or by address. A page that has looked at many rows ends
 * there: it may be short, or empty, and still have a next one.
 */
export async function readHistoryPage(
  store: Store,
  filters: Filters,
  position: MessagePosition,
): Promise<MessagePage> {
  const { text, values } = historySql(filters, position);
  const rows = await query<HistoryRow>(store.fork(), text, values);
  const cursorOf = ({ cursor_time: time, contact_email: email }: HistoryRow, id: string) =>
    filters.addresses ? { time, id, email } : { time, id };
  const wanted = rows.filter((row) => row.is_wanted);
  const messages = wanted.slice(0, position.limit);
  const cursors = messages.map((row) => cursorOf(row, row.id));
  if (wanted.length > position.limit) return { messages, cursors, next: cursors.at(-1) };
  // All rows of its time were looked at.
  const end = rows.find((row) => row.is_end);
  return { messages, cursors, next: end && cursorOf(end, lowestId) };
}

/** The order of the indexes of times, and of the one of addresses, which compares bytes. */
const newestFirst = 'created_at desc';
const byAddress = 'contact_email using ~<~, created_at desc';

/**
 * Ordered by time alone until the last step: that is the order of the indexes, so nothing is sorted
 * before the limits.
 */
export function historySql(
  filters: Filters,
  { limit, after }: MessagePosition,
): { text: string; values: unknown[] } {
  const values = [...filters.values];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const { addresses } = filters;
  const order = addresses ? byAddress : newestFirst;
  const rows = addresses ? addressRows(addresses, after, bind) : newestRows(filters, after, bind);
  const isWanted = filters.wanted.length > 0 ? filters.wanted.join(' and ') : 'true';
  const text = `
    select ${messageColumns}, is_wanted, place = ${lookedAtMax} as is_end,
      -- Keeps the microseconds that a Date would lose.
      to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as cursor_time
    from (
      select *, ${isWanted} as is_wanted from (
        select *, row_number() over (order by ${order}) as place
        from ${rows}
        order by ${order} fetch first ${lookedAtMax} rows with ties
      ) looked_at
      where (${isWanted}) or place = ${lookedAtMax}
      order by ${order} fetch first ${limit + 1} rows with ties
    ) found
    order by ${order}, id desc`;
  return { text: composed(text), values };
}

type Bind = (value: unknown) => string;

const below = ({ time, id }: MessageCursor, bind: Bind) =>
  `(created_at, id) < (${bind(time)}::timestamptz, ${bind(id)}::uuid)`;

function newestRows({ within }: Filters, after: MessageCursor | undefined, bind: Bind): string {
  const conditions = ['workspace_id = $1', ...within, ...(after ? [below(after, bind)] : [])];
  return `messages where ${conditions.join(' and ')}`;
}

/**
 * The rest of the cursor's address and the addresses behind it, so that each is one step in the
 * index.
 */
function addressRows(
  { prefix, end }: AddressRange,
  after: MessageCursor | undefined,
  bind: Bind,
): string {
  if (!after)
    return `messages where workspace_id = $1 and contact_email ~>=~ ${bind(prefix)}
      and contact_email ~<~ ${bind(end)}`;
  const email = bind(after.email);
  const part = (condition: string) =>
    `(select * from messages where workspace_id = $1 and ${condition}
       order by ${byAddress} fetch first ${lookedAtMax} rows with ties)`;
  return `(
    ${part(`contact_email = ${email} and ${below(after, bind)}`)}
    union all
    ${part(`contact_email ~>~ ${email} and contact_email ~<~ ${bind(end)}`)}
  ) behind`;
}
