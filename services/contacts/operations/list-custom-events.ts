import type { ListCustomEventsRequest } from '#gen/postrider/contacts/v1/custom_events_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { pageOf, pageSql } from '#lib/limits/page.ts';
import { composed } from '#lib/postgres/prepared.ts';
import { query } from '#lib/postgres/query.ts';
import { timestampSql } from '#lib/postgres/time-sql.ts';
import { requireAddress } from '../contact/input.ts';
import type { Context, Methods } from '../context.ts';
import {
  type CustomEventCursor,
  readEventCursor,
  writeEventCursor,
} from '../custom-events/cursor.ts';
import { customEventJsonSql } from '../custom-events/queries.ts';
import { customEventMessage } from '../views/custom-event.ts';

const limitDefault = 50;

export function listCustomEvents({ store }: Context): Methods['listCustomEvents'] {
  return async (request) => {
    const { limit = limitDefault, offset } = request;
    const { sql, values } = conditions(request);
    const select = `select ${customEventJsonSql('event')}::text as event, event.occurred_at,
        ${timestampSql('event.occurred_at')} as "occurredAt", event_name as "eventName", external_id as "externalId"
      from custom_events event
      where ${sql.join(' and ')}
      order by event.occurred_at desc, event_name, external_id
      limit ${limit + 1} offset ${offset}`;
    const rows = await query<{ event: string } & CustomEventCursor>(
      store.fork(),
      composed(
        pageSql(select, { text: 'event', order: 'occurred_at desc, "eventName", "externalId"' }),
      ),
      values,
    );
    const { page, isLast } = pageOf(rows, limit, ({ event }) => Buffer.byteLength(event));
    const last = page.at(-1);
    return {
      events: page.map(({ event }) => customEventMessage(event)),
      count: page.length,
      nextCursor: isLast || !last ? undefined : writeEventCursor(last),
    };
  };
}

function conditions({ workspaceId, email, eventName, cursor }: ListCustomEventsRequest) {
  if (email === '' && eventName === '') {
    throw invalidField('email', 'either email or event_name is required');
  }
  const values: unknown[] = [];
  const bound = (value: unknown) => `$${values.push(value)}`;
  const sql = [`workspace_id = ${bound(workspaceId)}`, 'deleted_at is null'];
  if (email !== '') sql.push(`email = ${bound(requireAddress(email))}`);
  // The condition enables the index of events of a name (docs/decisions/0013).
  if (eventName !== '') sql.push(`event_name = ${bound(eventName)} and occurred_at > '-infinity'`);
  if (cursor !== '') {
    const from = readEventCursor(cursor);
    const at = `${bound(from.occurredAt)}::timestamptz`;
    sql.push(`occurred_at <= ${at} and (occurred_at < ${at}
      or (event_name, external_id) > (${bound(from.eventName)}, ${bound(from.externalId)}))`);
  }
  return { sql, values };
}
