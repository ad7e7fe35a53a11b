import type { DescMessage } from '@bufbuild/protobuf';
import { ContactDeletedSchema } from '#gen/postrider/events/v1/contact_pb.ts';
import { declaredEvents, nestedIn, typeOf } from '#lib/events/contracts.ts';
import type { CustomEventFilters } from '../subscription.ts';
import type { Members } from './members.ts';

/** The types and filters of a subscription, or the types of a listener. */
export type Target = {
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

/** The shape of a type's data, for filters. */
type DataShape = {
  /** The field that holds the others, as `contact` does; undefined if they are not nested. */
  inside: string | undefined;
  /** The data name a list. Other types are filtered by the lists that their contact is in. */
  namesList: boolean;
  namesSegment: boolean;
  isCustomEvent: boolean;
};

const shapes = new Map(declaredEvents.map(({ type, data }) => [type, shapeOf(data)]));

function shapeOf({ fields }: DescMessage): DataShape {
  const [first] = fields;
  const nested = first && fields.length === 1 ? nestedIn(first) : undefined;
  const names = new Set((nested?.fields ?? fields).map(({ name }) => name));
  return {
    inside: nested && first?.name,
    namesList: names.has('list_id'),
    namesSegment: names.has('segment_id'),
    isCustomEvent: names.has('event_name'),
  };
}

/** The contact is gone, and its memberships with it. */
const unfiltered = typeOf(ContactDeletedSchema);

/** Whether a filter of lists, or of segments, needs to know where the contact of an event is. */
export function needsMembers(type: string, { list_ids, segment_ids }: Target): boolean {
  if (type === unfiltered) return false;
  const shape = shapes.get(type);
  return (
    (list_ids.length > 0 && !shape?.namesList) || (segment_ids.length > 0 && !shape?.namesSegment)
  );
}

export const hasFilters = (target: Target) =>
  target.list_ids.length > 0 ||
  target.segment_ids.length > 0 ||
  target.custom_event_filters !== null;

/** Whether a subscription that wants the type wants this event too. */
export function passes(
  { custom_event_filters: custom, list_ids: listIds, segment_ids: segmentIds }: Target,
  { type, subject, members }: { type: string; subject: Subject; members: Members },
): boolean {
  const shape = shapes.get(type);
  const { email } = subject;
  if (shape?.isCustomEvent && custom && !passesCustom(custom, subject)) return false;
  if (type === unfiltered) return true;
  const isInList =
    listIds.length === 0 ||
    (shape?.namesList ? listIds.includes(subject.listId) : members.isInList(email, listIds));
  const isInSegment =
    segmentIds.length === 0 ||
    (shape?.namesSegment
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

export function subjectOf(type: string, dataJson: string): Subject {
  const data: unknown = JSON.parse(dataJson);
  const inside = shapes.get(type)?.inside;
  const inner = inside ? valueAt(data, inside) : data;
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
