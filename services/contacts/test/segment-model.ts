import { DateTime } from 'luxon';
import type {
  JsonFilter,
  JsonGoal,
  JsonLeaf,
  JsonNode,
  JsonTimeframe,
  JsonTimeline,
} from './segment-tree.ts';

/** A contact and its history. Times are in RFC 3339. */
export type ModelPerson = {
  email: string;
  fields: Record<string, unknown>;
  memberships: { listId: string; status: string; isRemoved: boolean }[];
  events: {
    name: string;
    at: string;
    isDeleted: boolean;
    goal?: { type: string; name?: string; cents?: number };
  }[];
  messages: { kind: string; templateId: string; at: string }[];
};

export type ModelWorld = { now: string; zone: string; deletedLists: readonly string[] };

/** Whether a contact is in a segment with this tree: written to be read, not to be quick. */
export function isIn(node: JsonNode, person: ModelPerson, world: ModelWorld): boolean {
  if (node.kind === 'leaf') return holds(node.leaf, person, world);
  const { operator, leaves } = node.branch;
  const each = (leaf: JsonNode) => isIn(leaf, person, world);
  return operator === 'and' ? leaves.every(each) : leaves.some(each);
}

function holds(leaf: JsonLeaf, person: ModelPerson, world: ModelWorld): boolean {
  if (leaf.contact) return leaf.contact.filters.every((filter) => passes(filter, person, world));
  if (leaf.contact_list) {
    const { operator, list_id, status } = leaf.contact_list;
    const found = person.memberships.some(
      (each) =>
        each.listId === list_id &&
        !each.isRemoved &&
        !world.deletedLists.includes(list_id) &&
        (!status || each.status === status),
    );
    return operator === 'in' ? found : !found;
  }
  if (leaf.contact_timeline) return counts(leaf.contact_timeline, person, world);
  if (leaf.custom_events_goal) return reaches(leaf.custom_events_goal, person, world);
  throw new Error('an empty leaf');
}

function passes(filter: JsonFilter, person: ModelPerson, world: ModelWorld): boolean {
  const value = read(filter, person, world.zone);
  switch (filter.operator) {
    case 'is_set':
      return value !== null;
    case 'is_not_set':
      return value === null;
    case 'not_equals':
      return !compares({ ...filter, operator: 'equals' }, value, world);
    case 'not_contains':
      return !compares({ ...filter, operator: 'contains' }, value, world);
    case 'not_in_date_range':
      return !compares({ ...filter, operator: 'in_date_range' }, value, world);
    default:
      return compares(filter, value, world);
  }
}

/** A text, a number, a time in microseconds, or any JSON; null for none that can be read so. */
function read(
  { field_name, field_type, json_path = [] }: JsonFilter,
  person: ModelPerson,
  zone: string,
) {
  let value: unknown = field_name === 'email' ? person.email : (person.fields[field_name] ?? null);
  if (!field_name.startsWith('custom_json')) {
    return field_type === 'time' && typeof value === 'string' ? micros(value, zone) : value;
  }
  for (const key of json_path) {
    const isReachable = typeof value === 'object' && value !== null && Object.hasOwn(value, key);
    value = isReachable ? Reflect.get(value as object, key) : null;
  }
  switch (field_type) {
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'string':
      return textOf(value);
    case 'time':
      return typeof value === 'string' ? micros(value, zone) : null;
    default:
      return value;
  }
}

const textOf = (value: unknown) =>
  ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : null;

function compares(filter: JsonFilter, found: unknown, { now, zone }: ModelWorld): boolean {
  const { operator, field_type, string_values = [], number_values = [] } = filter;
  if (operator === 'in_array') {
    const elements: unknown[] = Array.isArray(found) ? found : [];
    return elements.some((each) => string_values.includes(textOf(each) ?? '\0'));
  }
  const value = field_type === 'json' ? textOf(found) : found;
  if (value === null) return false;
  if (operator === 'contains') {
    const text = String(value).toLowerCase();
    return string_values.some((each) => text.includes(each.toLowerCase()));
  }
  if (typeof value === 'bigint') {
    const times = string_values.map((text) => micros(text, zone) ?? 0n);
    return isWithin(value, { operator, times, days: Number(string_values[0]), now });
  }
  if (typeof value === 'number') return ordered(operator, value - (number_values[0] ?? 0));
  return ordered(
    operator,
    Buffer.compare(Buffer.from(String(value)), Buffer.from(string_values[0] ?? '')),
  );
}

type Within = { operator: string; times: bigint[]; days: number; now: string };

function isWithin(value: bigint, { operator, times, days, now }: Within): boolean {
  const [first = 0n, second = 0n] = times;
  switch (operator) {
    case 'in_date_range':
      return value >= first && value < second;
    case 'before_date':
      return value < first;
    case 'after_date':
      return value > first;
    case 'in_the_last_days':
      return value > (micros(now, 'UTC') ?? 0n) - BigInt(days) * 86_400_000_000n;
    default:
      return ordered(operator, Number(value - first));
  }
}

function ordered(operator: string, difference: number): boolean {
  switch (operator) {
    case 'equals':
      return difference === 0;
    case 'gt':
      return difference > 0;
    case 'gte':
      return difference >= 0;
    case 'lt':
      return difference < 0;
    case 'lte':
      return difference <= 0;
    default:
      throw new Error(`the model has no operator ${operator}`);
  }
}

/** Microseconds since 1970; null for a text that is no time of the years 1 to 9999. */
function micros(text: string, zone: string): bigint | null {
  const match = /^(\d{4}-\d\d-\d\d)(?:(T\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d))?$/.exec(
    text,
  );
  const [, day = '', clock, fraction = '', offset = ''] = match ?? [];
  const time = clock
    ? DateTime.fromISO(`${day}${clock}${offset}`)
    : DateTime.fromISO(day, { zone }).startOf('day');
  if (!match || !time.isValid || day.startsWith('0000')) return null;
  return BigInt(time.toMillis()) * 1_000n + BigInt(fraction.padEnd(6, '0').slice(0, 6));
}

function inTimeframe(at: string, condition: JsonTimeframe, { now, zone }: ModelWorld): boolean {
  const { timeframe_operator = 'anytime', timeframe_values = [] } = condition;
  if (timeframe_operator === 'anytime') return true;
  const times = timeframe_values.map((text) => micros(text, zone) ?? 0n);
  const days = Number(timeframe_values[0]);
  return isWithin(micros(at, zone) ?? 0n, { operator: timeframe_operator, times, days, now });
}

function counts(condition: JsonTimeline, person: ModelPerson, world: ModelWorld): boolean {
  const { kind, count_operator, count_value, template_id = '' } = condition;
  const events = person.events
    .filter(({ name, isDeleted }) => !isDeleted && kind === `custom_event.${name}`)
    .map(({ at }) => at);
  const messages = person.messages
    .filter((each) => each.kind === kind && (template_id === '' || each.templateId === template_id))
    .map(({ at }) => at);
  const created = kind === 'contact.created' ? [String(person.fields.created_at)] : [];
  const number = [...events, ...messages, ...created].filter((at) =>
    inTimeframe(at, condition, world),
  ).length;
  if (count_operator === 'at_least') return number >= count_value;
  if (count_operator === 'at_most') return number <= count_value;
  return number === count_value;
}

function reaches(condition: JsonGoal, person: ModelPerson, world: ModelWorld): boolean {
  const { goal_type, goal_name = '', aggregate_operator, operator, value, value_2 = 0 } = condition;
  const goals = person.events
    .filter(({ at, isDeleted }) => !isDeleted && inTimeframe(at, condition, world))
    .flatMap(({ goal }) => goal ?? [])
    .filter(({ type }) => goal_type === '*' || type === goal_type)
    .filter(({ name }) => goal_name === '' || name === goal_name);
  const cents = goals.flatMap((each) => each.cents ?? []);
  const sum = cents.reduce((total, each) => total + each, 0) / 100;
  if (aggregate_operator === 'sum') return fits(sum);
  if (aggregate_operator === 'count') return fits(goals.length);
  if (cents.length === 0) return false;
  if (aggregate_operator === 'avg') return fits(sum / cents.length);
  const extreme = aggregate_operator === 'min' ? Math.min(...cents) : Math.max(...cents);
  return fits(extreme / 100);

  function fits(number: number): boolean {
    if (operator === 'gte') return number >= value;
    if (operator === 'lte') return number <= value;
    if (operator === 'eq') return number === value;
    return number >= value && number <= value_2;
  }
}
