import type { ListInboundReportsRequest } from '#gen/postrider/messages/v1/reports_pb.ts';
import { addressFault, canonicalAddress } from '#lib/address.ts';
import { invalidField } from '#lib/errors/errors.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import { isFullTime, readCursor, writeCursor } from '#lib/postgres/cursor.ts';
import { composed } from '#lib/postgres/prepared.ts';
import { query } from '#lib/postgres/query.ts';
import { orderedTimeSql } from '#lib/postgres/time-sql.ts';
import { readTime } from '#lib/rpc/request-time.ts';
import { isOwner } from '#lib/rpc/server/access.ts';
import type { Context, Methods } from '../context.ts';
import { uuid } from '../history/cursor.ts';
import { reportTypes } from '../reports/report.ts';
import { openRaw } from '../reports/store.ts';
import { type InboundReportRow, toInboundReport } from '../views/inbound-report.ts';

const limitDefault = 20;

type PagedRow = InboundReportRow & { raw: Buffer | null; place: string };

export function listInboundReports({ store, keyring }: Context): Methods['listInboundReports'] {
  return async (request, call) => {
    const { workspaceId, limit = limitDefault } = request;
    const { where, values } = filtersOf(request);
    const rows = await query<PagedRow>(
      store.fork(),
      composed(`select id, type, source, integration_id, email, message_id, occurred_at, received_at, class, category,
         diagnostic, complaint_type, state, raw, ${orderedTimeSql('occurred_at')} || '~' || id as place
       from inbound_reports where ${where} order by occurred_at desc, id desc limit ${limit + 1}`),
      values,
    );
    const page = rows.slice(0, limit);
    const hasMore = rows.length > limit;
    const last = hasMore ? page.at(-1) : undefined;
    const rawOf = isOwner(call) ? (row: PagedRow) => rawIn(keyring, workspaceId, row) : () => '';
    return {
      events: page.map((row) => toInboundReport(row, rawOf(row))),
      nextCursor: last && writeCursor(last.place),
      hasMore,
    };
  };
}

function rawIn(keyring: Keyring, workspaceId: string, { id, raw }: PagedRow): string {
  return raw ? openRaw(keyring, { workspaceId, id, raw }) : '';
}

function filtersOf(request: ListInboundReportsRequest): { where: string; values: unknown[] } {
  const values: unknown[] = [request.workspaceId];
  const bound = (value: unknown) => `$${values.push(value)}`;
  const where = ['workspace_id = $1'];
  const { eventType, recipientEmail, messageId, timestampAfter, timestampBefore } = request;
  if (eventType !== '') {
    if (!reportTypes.some((each) => each === eventType)) {
      throw invalidField('event_type', `event_type must be one of ${reportTypes.join(', ')}`);
    }
    where.push(`type = ${bound(eventType)}`);
  }
  if (recipientEmail !== '') {
    const email = canonicalAddress(recipientEmail);
    if (!email) throw invalidField('recipient_email', addressFault(recipientEmail));
    where.push(`email = ${bound(email)}`);
  }
  if (messageId !== '') {
    if (!uuid.test(messageId)) throw invalidField('message_id', 'message_id must be a UUID');
    where.push(`message_id = ${bound(messageId)}`);
  }
  const after = readTime('timestamp_after', timestampAfter);
  const before = readTime('timestamp_before', timestampBefore);
  if (after) where.push(`occurred_at >= ${bound(after)}`);
  if (before) where.push(`occurred_at < ${bound(before)}`);
  if (request.cursor !== '') {
    const { time, id } = readCursor(request.cursor, placeIn);
    where.push(`(occurred_at, id) < (${bound(time)}::timestamptz, ${bound(id)}::uuid)`);
  }
  return { where: where.join(' and '), values };
}

/** The last report of the page before. */
function placeIn(place: string): { time: string; id: string } | undefined {
  const [time = '', id = '', ...rest] = place.split('~');
  return isFullTime(time) && uuid.test(id) && rest.length === 0 ? { time, id } : undefined;
}
