import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { declaredEvents } from '#lib/events/contracts.ts';
import { touches } from '../../changes/touch.ts';

/** A time span, half open; in microseconds, as PostgreSQL keeps time. */
export type TimeSpan = { since?: Timestamp; until?: Timestamp; lastDays?: number };

/** How a value of a filter is read. */
export type Reading = 'string' | 'number' | 'time' | 'json';

export type Test =
  | { operator: 'is_set' | 'is_not_set' }
  | { operator: 'equals' | 'not_equals' | 'gt' | 'gte' | 'lt' | 'lte'; value: string | number }
  | { operator: 'contains' | 'not_contains' | 'in_array'; values: readonly string[] }
  | { operator: 'in_span' | 'not_in_span'; span: TimeSpan };

export type Filter = {
  field: string;
  reading: Reading;
  /** Leads to the value in a JSON field; undefined for other fields. */
  path?: readonly string[];
  test: Test;
};

export type FieldsLeaf = { kind: 'fields'; filters: readonly Filter[] };
export type ListLeaf = { kind: 'list'; isIn: boolean; listId: string; status: string };
export type TimelineLeaf = {
  kind: 'timeline';
  event: string;
  count: { operator: 'at_least' | 'at_most' | 'exactly'; value: number };
  templateId: string;
  span: TimeSpan;
};
export type GoalLeaf = {
  kind: 'goal';
  goalType: string;
  goalName: string;
  aggregate: 'sum' | 'count' | 'avg' | 'min' | 'max';
  least: number;
  most: number;
  span: TimeSpan;
};
export type Leaf = FieldsLeaf | ListLeaf | TimelineLeaf | GoalLeaf;
export type Branch = { kind: 'branch'; operator: 'and' | 'or'; nodes: readonly Node[] };
export type Node = Branch | Leaf;

/** A tree that was checked, with its values read. */
export type Tree = { root: Node; timezone: string };

/** The kinds of events of a service that conditions count, with their types. */
const segmentKinds = (producer: string) =>
  new Map(
    declaredEvents
      .filter((event) => event.producer === producer && event.segmentKind !== '')
      .map(({ segmentKind, type }) => [segmentKind, type]),
  );

/** The kinds of `timeline.list` that messages are asked for, with the events that tell of them. */
export const messageKinds: ReadonlyMap<string, string> = segmentKinds('messages');

export const customEventPrefix = 'custom_event.';

/** The other kinds. Those of segments are none, so that no segment depends on another. */
export const plainKinds: ReadonlySet<string> = new Set(segmentKinds('contacts').keys());

export function leavesOf(node: Node): Leaf[] {
  return node.kind === 'branch' ? node.nodes.flatMap(leavesOf) : [node];
}

/** The keys of `touches` that can move a contact in or out. */
export function readsOf({ root }: Tree): string[] {
  return [...new Set([touches.all, ...leavesOf(root).flatMap(readsOfLeaf)])];
}

function readsOfLeaf(leaf: Leaf): string[] {
  switch (leaf.kind) {
    case 'fields':
      return leaf.filters.flatMap(({ field }) => readsOfField(field));
    case 'list':
      return [touches.list(leaf.listId)];
    case 'goal':
      return [touches.goal];
    case 'timeline':
      return readsOfKind(leaf.event);
  }
}

/** The address and the time of creation never change. */
function readsOfField(field: string): string[] {
  if (field === 'email' || field === 'created_at') return [];
  return [field === 'updated_at' ? touches.contact : touches.field(field)];
}

function readsOfKind(kind: string): string[] {
  if (messageKinds.has(kind)) return [touches.message(kind)];
  if (kind.startsWith(customEventPrefix)) {
    return [touches.event(kind.slice(customEventPrefix.length))];
  }
  if (kind === 'contact.created') return [];
  return [kind === 'contact.updated' ? touches.contact : touches.lists];
}

export function isRelative({ root }: Tree): boolean {
  return leavesOf(root).some((leaf) => {
    if (leaf.kind === 'fields') {
      return leaf.filters.some(({ test }) => 'span' in test && test.span.lastDays !== undefined);
    }
    return 'span' in leaf && leaf.span.lastDays !== undefined;
  });
}

export type MessageLeaf = TimelineLeaf;

export function isAboutMessages(leaf: Leaf): leaf is MessageLeaf {
  return leaf.kind === 'timeline' && messageKinds.has(leaf.event);
}

export function readsMessages({ root }: Tree): boolean {
  return leavesOf(root).some(isAboutMessages);
}
