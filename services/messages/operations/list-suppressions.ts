import type { ListSuppressionsRequest } from '#gen/postrider/messages/v1/suppressions_pb.ts';
import { readCursor, writeCursor } from '#lib/postgres/cursor.ts';
import { composed } from '#lib/postgres/prepared.ts';
import { query } from '#lib/postgres/query.ts';
import type { Context, Methods } from '../context.ts';
import { requireReason } from '../suppressions/input.ts';
import { type StoredSuppression, suppressionColumns } from '../suppressions/store.ts';
import { toSuppression } from '../views/suppression.ts';

const limitDefault = 50;
/** Behind every address that begins with a text. */
const highest = '\u{10ffff}';

export function listSuppressions({ store }: Context): Methods['listSuppressions'] {
  return async (request) => {
    const { limit = limitDefault } = request;
    const { text, values } = pageSql(request, limit + 1);
    const rows = await query<StoredSuppression>(store.fork(), text, values);
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : undefined;
    return {
      suppressions: page.map(toSuppression),
      nextCursor: last && writeCursor(last.email),
    };
  };
}

export type PageRequest = Pick<
  ListSuppressionsRequest,
  'workspaceId' | 'reason' | 'emailPrefix' | 'cursor'
>;

export function pageSql(
  { workspaceId, reason, emailPrefix, cursor }: PageRequest,
  limit: number,
): { text: string; values: unknown[] } {
  const values: unknown[] = [];
  const bound = (value: unknown) => `$${values.push(value)}`;
  const sql = [`workspace_id = ${bound(workspaceId)}`];
  if (reason !== '') {
    requireReason(reason);
    sql.push(`reason = ${bound(reason)}`);
  }
  const prefix = emailPrefix.trim().toLowerCase();
  if (prefix !== '') {
    sql.push(`email ~>=~ ${bound(prefix)} and email ~<~ ${bound(prefix + highest)}`);
  }
  if (cursor !== '') sql.push(`email ~>~ ${bound(readCursor(cursor, emailIn))}`);
  const text = `select ${suppressionColumns} from suppressions
    where ${sql.join(' and ')} order by email using ~<~ limit ${limit}`;
  return { text: composed(text), values };
}

/** The address that the page starts after. */
const emailIn = (place: string) => (/^[^\s\0]{1,254}$/.test(place) ? place : undefined);
