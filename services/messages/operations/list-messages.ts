import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import type { ListMessagesRequest } from '#gen/postrider/messages/v1/messages_pb.ts';
import { canonicalAddress } from '#lib/address.ts';
import { pagedSql } from '#lib/postgres/page-indexes.ts';
import { query } from '#lib/postgres/query.ts';
import { invalidField } from '#lib/rpc/errors.ts';
import type { Context, Methods } from '../context.ts';
import { type MessageRow, messageColumns } from '../message-queries.ts';
import { toMessage } from '../views/message.ts';

const defaultLimit = 20;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function listMessages({ store }: Context): Methods['listMessages'] {
  return async (request) => {
    const limit = request.limit ?? defaultLimit;
    const { conditions, values } = filters(request);
    const rows = await query<MessageRow & { cursor_time: string }>(
      store.fork(),
      // The cursor keeps the microseconds that a Date would lose.
      `select ${messageColumns}, to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as cursor_time
       from messages where ${conditions.join(' and ')}
       order by created_at desc, id desc limit ${limit + 1}`,
      values,
    );
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const hasMore = rows.length > limit;
    return {
      messages: page.map(toMessage),
      nextCursor: hasMore && last ? cursorOf(last) : undefined,
      hasMore,
    };
  };
}

const cursorOf = (row: { cursor_time: string; id: string }) =>
  Buffer.from(`${row.cursor_time}~${row.id}`).toString('base64url');

const timestampColumns = {
  isSent: 'sent_at',
  isDelivered: 'delivered_at',
  isFailed: 'failed_at',
  isOpened: 'opened_at',
  isClicked: 'clicked_at',
  isBounced: 'bounced_at',
  isComplained: 'complained_at',
  isUnsubscribed: 'unsubscribed_at',
} as const;

function filters(request: ListMessagesRequest): { conditions: string[]; values: unknown[] } {
  const values: unknown[] = [request.workspaceId];
  const conditions = ['workspace_id = $1', pagedSql('messages')];
  const add = (condition: (parameter: string) => string, value: unknown) => {
    values.push(value);
    conditions.push(condition(`$${values.length}`));
  };
  if (request.id !== '') {
    if (uuid.test(request.id)) add((value) => `id = ${value}::uuid`, request.id);
    else conditions.push('false');
  }
  if (request.externalId !== '') add((value) => `external_id = ${value}`, request.externalId);
  if (request.listId !== '') add((value) => `list_id = ${value}`, request.listId);
  if (request.broadcastId !== '') add((value) => `broadcast_id = ${value}`, request.broadcastId);
  if (request.templateId !== '') add((value) => `template_id = ${value}`, request.templateId);
  if (request.channel !== '') add((value) => `channel = ${value}`, checkedChannel(request.channel));
  if (request.contactEmail !== '')
    add((value) => `contact_email = ${value}`, checkedEmail(request.contactEmail));
  for (const [name, column] of Object.entries(timestampColumns)) {
    const wanted: unknown = Reflect.get(request, name);
    if (typeof wanted === 'boolean') conditions.push(`${column} is ${wanted ? 'not ' : ''}null`);
  }
  addTimes(request, add);
  if (request.cursor !== '') {
    const { time, id } = readCursor(request.cursor);
    values.push(time, id);
    conditions.push(
      `(created_at, id) < ($${values.length - 1}::timestamptz, $${values.length}::uuid)`,
    );
  }
  return { conditions, values };
}

function addTimes(
  request: ListMessagesRequest,
  add: (condition: (parameter: string) => string, value: unknown) => void,
): void {
  checkOrder('sent', request.sentAfter, request.sentBefore);
  checkOrder('updated', request.updatedAfter, request.updatedBefore);
  const { sentAfter, sentBefore, updatedAfter, updatedBefore } = request;
  if (sentAfter) add((value) => `sent_at >= ${value}`, timestampDate(sentAfter));
  if (sentBefore) add((value) => `sent_at <= ${value}`, timestampDate(sentBefore));
  if (updatedAfter) add((value) => `updated_at >= ${value}`, timestampDate(updatedAfter));
  if (updatedBefore) add((value) => `updated_at <= ${value}`, timestampDate(updatedBefore));
}

function checkOrder(
  name: string,
  after: Timestamp | undefined,
  before: Timestamp | undefined,
): void {
  if (after && before && timestampDate(after) > timestampDate(before)) {
    throw invalidField(`${name}_after`, `${name}_after must be before ${name}_before`);
  }
}

function checkedChannel(channel: string): string {
  if (channel !== 'email') throw invalidField('channel', `invalid channel type: ${channel}`);
  return channel;
}

function checkedEmail(text: string): string {
  const email = canonicalAddress(text);
  if (!email) throw invalidField('contact_email', 'invalid contact email format');
  return email;
}

function readCursor(cursor: string): { time: string; id: string } {
  const [time = '', id = ''] = Buffer.from(cursor, 'base64url').toString('utf8').split('~');
  const isTime =
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(time) && !Number.isNaN(Date.parse(time));
  if (!isTime || !uuid.test(id)) throw invalidField('cursor', 'invalid cursor');
  return { time, id };
}
