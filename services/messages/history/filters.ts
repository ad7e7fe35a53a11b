import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import type { ListMessagesRequest } from '#gen/postrider/messages/v1/messages_pb.ts';
import { canonicalAddress } from '#lib/address.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { pagedSql } from '#lib/postgres/page-indexes.ts';
import { readTime } from '#lib/rpc/request-time.ts';
import { messageStates, stateSql } from '../message-queries.ts';
import { uuid } from './cursor.ts';

/** A request without its page. */
export type HistoryRequest = Omit<
  ListMessagesRequest,
  '$typeName' | '$unknown' | 'limit' | 'cursor'
>;

/** The addresses that begin with a text, up to another that they are all before. */
export type AddressRange = { prefix: string; end: string };

/** Conditions in SQL on rows of messages. */
export type Filters = {
  /** The rows to look at: those that one index finds, in its order. */
  within: string[];
  /** In place of `within`. Pages are in the order of addresses then. */
  addresses?: AddressRange;
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

/** Flags with an index of their own, the rarest first. */
const rareFlags = ['isComplained', 'isUnsubscribed', 'isBounced', 'isFailed'] as const;

/**
 * The clock of a process may be this far behind that of the database, from which `created_at`
 * comes.
 */
const clocksApart = '5 minutes';

/**
 * The filters of a request, and the index to read them by: the one that leaves the fewest rows to
 * look at.
 */
export function historyFilters(request: HistoryRequest): Filters {
  const filters: Filters = { within: [], wanted: [], values: [request.workspaceId] };
  const bind = (value: unknown) => `$${filters.values.push(value)}`;
  const equal = equalities(request, bind);
  const flags = flagConditions(request);
  const addresses = addressRange(request);
  const key = keyColumns.find((column) => equal.has(column));
  const rare = rareFlags.find((flag) => request[flag] || rareStates[request.status] === flag);
  if (key) {
    filters.within.push(taken(equal, key));
    if (addresses) filters.wanted.push(isWithin(addresses, bind));
  } else if (addresses) filters.addresses = addresses;
  else if (rare) {
    const broadcast = equal.get('broadcast_id');
    filters.within.push(`${timeColumns[rare]} is not null`);
    if (broadcast) filters.within.push(timesOf(broadcast));
  } else {
    const group = groupColumns.find((column) => equal.has(column));
    const byTime = request.tag === '' ? pagedSql('messages') : 'tags is not null';
    filters.within.push(group ? taken(equal, group) : byTime);
  }
  if (request.tag !== '') filters.wanted.push(`tags @> array[${bind(request.tag)}::text]`);
  if (request.status !== '') filters.wanted.push(stateCondition(request.status, bind));
  filters.wanted.push(...equal.values(), ...flags.values());
  addTimes(request, filters, bind);
  return filters;
}

const keyColumns = ['id', 'contact_email', 'external_id'];
const groupColumns = ['broadcast_id', 'notification_id'];
/** States of which all messages are found by a rare flag. */
const rareStates: Record<string, (typeof rareFlags)[number]> = {
  complained: 'isComplained',
  bounced: 'isBounced',
  failed: 'isFailed',
};

function taken(conditions: Map<string, string>, key: string): string {
  const condition = conditions.get(key) ?? 'true';
  conditions.delete(key);
  return condition;
}

function stateCondition(status: string, bind: Bind): string {
  if (!messageStates.some((state) => state === status)) {
    throw invalidField('status', `invalid status: ${status.slice(0, 20)}`);
  }
  return `(${stateSql}) = ${bind(status)}`;
}

/** Behind every address that begins with a text. */
const highest = '\u{10ffff}';

function addressRange({
  contactEmail,
  contactEmailPrefix,
}: HistoryRequest): AddressRange | undefined {
  const prefix = contactEmailPrefix.trim().toLowerCase();
  if (prefix === '' || contactEmail !== '') return undefined;
  return { prefix, end: prefix + highest };
}

function isWithin({ prefix, end }: AddressRange, bind: Bind): string {
  return `contact_email ~>=~ ${bind(prefix)} and contact_email ~<~ ${bind(end)}`;
}

type Bind = (value: unknown) => string;

function equalities(request: HistoryRequest, bind: Bind): Map<string, string> {
  const { id, externalId, listId, channel, contactEmail, broadcastId, templateId } = request;
  const conditions = new Map<string, string>();
  if (id !== '') conditions.set('id', uuid.test(id) ? `id = ${bind(id)}::uuid` : 'false');
  const texts = {
    external_id: externalId,
    list_id: listId,
    broadcast_id: broadcastId,
    notification_id: request.notificationId,
    template_id: templateId,
    channel: channel === '' ? '' : checkedChannel(channel),
    contact_email: contactEmail === '' ? '' : checkedEmail(contactEmail),
  };
  for (const [column, text] of Object.entries(texts)) {
    if (text !== '') conditions.set(column, `${column} = ${bind(text)}`);
  }
  return conditions;
}

function flagConditions(request: HistoryRequest): Map<keyof typeof timeColumns, string> {
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

/**
 * Nothing is sent or changed before it is created, so the look can begin at the end of these times.
 */
function addTimes(request: HistoryRequest, filters: Filters, bind: Bind): void {
  const { within, wanted } = filters;
  checkOrder('sent', request.sentAfter, request.sentBefore);
  checkOrder('updated', request.updatedAfter, request.updatedBefore);
  const sentAfter = readTime('sent_after', request.sentAfter);
  const updatedAfter = readTime('updated_after', request.updatedAfter);
  if (sentAfter) wanted.push(`sent_at >= ${bind(sentAfter)}`);
  if (updatedAfter) wanted.push(`updated_at >= ${bind(updatedAfter)}`);
  for (const [column, before] of [
    ['sent_at', readTime('sent_before', request.sentBefore)],
    ['updated_at', readTime('updated_before', request.updatedBefore)],
  ] as const) {
    if (!before) continue;
    const end = bind(before);
    wanted.push(`${column} <= ${end}`);
    if (!filters.addresses)
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
