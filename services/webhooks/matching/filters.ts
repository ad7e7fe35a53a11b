import type { CustomEventFilters } from '../subscription.ts';
import type { Members } from './members.ts';

/** The types and filters of a subscription. */
export type Listener = {
  id: string;
  event_types: string[];
  custom_event_filters: CustomEventFilters | null;
  list_ids: string[];
  segment_ids: string[];
};

/** The parts of an event's data that filters read. */
export type Subject = {
  email: string;
  listId: string;
  segmentId: string;
  eventName: string;
  goalType: string;
};

const kindOf = (type: string) => type.slice(0, type.indexOf('.'));

/** Kinds that are filtered by the lists that their contact is in; the others name their list. */
const contactKinds: ReadonlySet<string> = new Set(['contact', 'segment', 'custom_event']);

/** The contact is gone, and its memberships with it. */
const unfiltered = 'contact.deleted';

/** Whether a filter of lists, or of segments, needs to know where the contact of an event is. */
export function needsMembers(type: string, { list_ids, segment_ids }: Listener): boolean {
  if (type === unfiltered) return false;
  const kind = kindOf(type);
  return (
    (list_ids.length > 0 && contactKinds.has(kind)) ||
    (segment_ids.length > 0 && kind !== 'segment')
  );
}

export const hasFilters = (listener: Listener) =>
  listener.list_ids.length > 0 ||
  listener.segment_ids.length > 0 ||
  listener.custom_event_filters !== null;

/** Whether a subscription that wants the type wants this event too. */
export function passes(
  { custom_event_filters: custom, list_ids: listIds, segment_ids: segmentIds }: Listener,
  { type, subject, members }: { type: string; subject: Subject; members: Members },
): boolean {
  const kind = kindOf(type);
  const { email } = subject;
  if (kind === 'custom_event' && custom && !passesCustom(custom, subject)) return false;
  if (type === unfiltered) return true;
  const isInList =
    listIds.length === 0 ||
    (contactKinds.has(kind) ? members.isInList(email, listIds) : listIds.includes(subject.listId));
  const isInSegment =
    segmentIds.length === 0 ||
    (kind === 'segment'
      ? segmentIds.includes(subject.segmentId)
      : members.isInSegment(email, segmentIds));
  return isInList && isInSegment;
}

function passesCustom(filters: CustomEventFilters, { goalType, eventName }: Subject): boolean {
  return allows(filters.goal_types, goalType) && allows(filters.event_names, eventName);
}

/**
 * A row that holds no list filters nothing: if it threw, no subscription of the workspace would get
 * the event.
 */
function allows(wanted: unknown, value: string): boolean {
  return !Array.isArray(wanted) || wanted.length === 0 || wanted.includes(value);
}

/** Data of contacts and custom events are nested. */
export function subjectOf(type: string, dataJson: string): Subject {
  const data: unknown = JSON.parse(dataJson);
  const kind = kindOf(type);
  const inner = kind === 'contact' || kind === 'custom_event' ? valueAt(data, kind) : data;
  const text = (name: string) => {
    const value = valueAt(inner, name);
    return typeof value === 'string' ? value : '';
  };
  return {
    email: text('email'),
    listId: text('list_id'),
    segmentId: text('segment_id'),
    eventName: text('event_name'),
    goalType: text('goal_type'),
  };
}

function valueAt(data: unknown, name: string): unknown {
  return typeof data === 'object' && data !== null ? Reflect.get(data, name) : undefined;
}
