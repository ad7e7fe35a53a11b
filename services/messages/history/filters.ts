import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import type { ListMessagesRequest } from '#gen/postrider/messages/v1/messages_pb.ts';
import { canonicalAddress } from '#lib/address.ts';
import { pagedSql } from '#lib/postgres/page-indexes.ts';
import { invalidField } from '#lib/rpc/errors.ts';
import { uuid } from './cursor.ts';

/** Conditions in SQL on rows of messages. */
export type Filters = {
  /** The rows to look at: those that one index finds, in its order. */
  within: string[];
  /** The rows among them that the request asks for. */
  wanted: string[];
  values: unknown[];
};

const timeColumns = {
  isSent: 'sent_at',
  isDelivered: 'delivered_at',
  isFailed: 'failed_at',
  isOpened: 'opened_at',
  isClicked: 'clicked_at',
  isBounced: 'bounced_at',
  isComplained: 'complained_at',
  isUnsubscribed: 'unsubscribed_at',
} as const;

/** Those with an index of their own, the rarest first. */
const rareFlags = ['isComplained', 'isUnsubscribed', 'isBounced', 'isFailed'] as const;

/** The clock of a process may be this far behind that of the database, from which `created_at` comes. */
const clocksApart = '5 minutes';

/** The filters of a request, and the index to read them by: the one that leaves the fewest rows to look at. */
export function historyFilters(request: ListMessagesRequest): Filters {
  const filters: Filters = { within: [], wanted: [], values: [request.workspaceId] };
  const bind = (value: unknown) => `$${filters.values.push(value)}`;
  const equal = equalities(request, bind);
  const flags = flagConditions(request);
  const rare = rareFlags.find((flag) => request[flag]);
  const key = (['id', 'contact_email', 'external_id'] as const).find((column) => equal.has(column));
  const broadcast = equal.get('broadcast_id');
  if (key) take(equal, key, filters);
  else if (rare) {
    take(flags, rare, filters);
    if (broadcast) filters.within.push(timesOf(broadcast));
  } else if (broadcast) take(equal, 'broadcast_id', filters);
  else filters.within.push(pagedSql('messages'));
  filters.wanted.push(...equal.values(), ...flags.values());
  addTimes(request, filters, bind);
  return filters;
}

function take<Key>(conditions: Map<Key, string>, key: Key, { within }: Filters): void {
  const condition = conditions.get(key);
  if (condition) within.push(condition);
  conditions.delete(key);
}

type Bind = (value: unknown) => string;

function equalities(request: ListMessagesRequest, bind: Bind): Map<string, string> {
  const { id, externalId, listId, channel, contactEmail, broadcastId, templateId } = request;
  const conditions = new Map<string, string>();
  if (id !== '') conditions.set('id', uuid.test(id) ? `id = ${bind(id)}::uuid` : 'false');
  const texts = {
    external_id: externalId,
    list_id: listId,
    broadcast_id: broadcastId,
    template_id: templateId,
    channel: channel === '' ? '' : checkedChannel(channel),
    contact_email: contactEmail === '' ? '' : checkedEmail(contactEmail),
  };
  for (const [column, text] of Object.entries(texts)) {
    if (text !== '') conditions.set(column, `${column} = ${bind(text)}`);
  }
  return conditions;
}

function flagConditions(request: ListMessagesRequest): Map<keyof typeof timeColumns, string> {
  const conditions = new Map<keyof typeof timeColumns, string>();
  for (const flag of Object.keys(timeColumns) as (keyof typeof timeColumns)[]) {
    const isSet = request[flag];
    if (isSet !== undefined)
      conditions.set(flag, `${timeColumns[flag]} is ${isSet ? 'not ' : ''}null`);
  }
  return conditions;
}

/** Between the first and the last message of a broadcast. */
function timesOf(broadcast: string): string {
  const timeOf = (which: 'min' | 'max') =>
    `(select ${which}(created_at) from messages where workspace_id = $1 and ${broadcast})`;
  return `created_at between ${timeOf('min')} and ${timeOf('max')}`;
}

/** Nothing is sent or changed before it is created, so the look can begin at the end of these times. */
function addTimes(request: ListMessagesRequest, { within, wanted }: Filters, bind: Bind): void {
  checkOrder('sent', request.sentAfter, request.sentBefore);
  checkOrder('updated', request.updatedAfter, request.updatedBefore);
  const { sentAfter, sentBefore, updatedAfter, updatedBefore } = request;
  if (sentAfter) wanted.push(`sent_at >= ${bind(timestampDate(sentAfter))}`);
  if (updatedAfter) wanted.push(`updated_at >= ${bind(timestampDate(updatedAfter))}`);
  for (const [column, before] of [
    ['sent_at', sentBefore],
    ['updated_at', updatedBefore],
  ] as const) {
    if (!before) continue;
    const end = bind(timestampDate(before));
    wanted.push(`${column} <= ${end}`);
    within.push(`created_at <= ${end}::timestamptz + interval '${clocksApart}'`);
  }
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
