import fc from 'fast-check';
import { MessageFactKind } from '#gen/postrider/messages/v1/facts_pb.ts';
import { operatorsOf } from '../segments/tree/read-filter.ts';
import type { ModelPerson } from './segment-model.ts';
import type { JsonFilter, JsonNode, JsonTimeframe } from './segment-tree.ts';

export const now = '2030-01-10T12:00:00Z';
export const zones = ['UTC', 'Europe/Berlin', 'Pacific/Auckland', 'America/New_York'];

const words = ['Ada', 'ada', 'É%', 'é', 'x_y\\', '', 'DE', '5', '2.5', 'true', '50%'];
const numbers = [-1, 0, 1, 2.5, 5];
const times = [
  '2030-01-10T11:59:59.999999Z',
  '2030-01-09T12:00:00Z',
  '2030-01-09T12:00:00.000001Z',
  '2030-01-09T23:00:00Z',
  '2030-01-10T00:00:00+01:00',
  '2029-12-31T11:00:00Z',
  '2031-06-01T00:00:00Z',
];
const days = ['2030-01-10', '2030-01-09', '2029-12-31', '2028-02-29'];
const notTimes = ['2029-02-29', '2030-13-01', '2030-01-10T25:00:00Z', 'soon', '0000-01-01'];
export const lists = ['a', 'b', 'gone'];
const names = ['orders/paid', 'seen'];
const goalTypes = ['purchase', 'lead'];
export const kinds: Record<string, MessageFactKind> = {
  open_email: MessageFactKind.OPENED,
  click_email: MessageFactKind.CLICKED,
};

const of = <T>(values: readonly T[]) => fc.constantFrom(...values);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });

const jsonValue = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.oneof(of<unknown>([...words, ...numbers, true, null, ...times, ...days, ...notTimes])),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(of(['k', 'l', '0']), tie('value'), { maxKeys: 2, noNullPrototype: true }),
  ),
})).value;

const fields = fc.record({
  first_name: maybe(of(words)),
  country: maybe(of(words)),
  full_name: maybe(of(words)),
  custom_number_1: maybe(of(numbers)),
  custom_datetime_1: maybe(of(times)),
  custom_json_1: maybe(jsonValue.filter((value) => value !== null)),
  created_at: of(times),
  updated_at: of(times),
});

const statuses = ['active', 'pending', 'unsubscribed', 'bounced', 'complained'];
const goalOf = fc.record(
  { type: of(goalTypes), name: of(names), cents: of([-100, 0, 10, 20, 250]) },
  { requiredKeys: ['type'] },
);

export const person: fc.Arbitrary<Omit<ModelPerson, 'email'>> = fc.record({
  fields,
  memberships: fc.uniqueArray(
    fc.record({ listId: of(lists), status: of(statuses), isRemoved: fc.boolean() }),
    { selector: ({ listId }) => listId, maxLength: 3 },
  ),
  events: fc.array(
    fc.record(
      { name: of(names), at: of(times), isDeleted: of([false, false, true]), goal: goalOf },
      { requiredKeys: ['name', 'at', 'isDeleted'] },
    ),
    { maxLength: 4 },
  ),
  messages: fc.array(
    fc.record({
      kind: of(Object.keys(kinds)),
      templateId: of(['t1', 't2']),
      at: of([times[1] ?? '', times[3] ?? '']),
    }),
    { maxLength: 3 },
  ),
});

const timeframe: fc.Arbitrary<JsonTimeframe> = fc.oneof(
  fc.constant({}),
  fc.constant({ timeframe_operator: 'anytime' }),
  fc.record({
    timeframe_operator: of(['before_date', 'after_date']),
    timeframe_values: fc.tuple(of([...times, ...days])),
  }),
  fc.record({
    timeframe_operator: fc.constant('in_date_range'),
    timeframe_values: fc.tuple(of([...times, ...days]), of([...times, ...days])),
  }),
  fc.record({
    timeframe_operator: fc.constant('in_the_last_days'),
    timeframe_values: fc.tuple(of(['0', '1', '10', '36500'])),
  }),
);

const fieldTypes: [name: string, types: readonly ('string' | 'number' | 'time' | 'json')[]][] = [
  ['first_name', ['string']],
  ['full_name', ['string']],
  ['country', ['string']],
  ['email', ['string']],
  ['custom_number_1', ['number']],
  ['custom_datetime_1', ['time']],
  ['created_at', ['time']],
  ['updated_at', ['time']],
  ['custom_json_1', ['string', 'number', 'time', 'json']],
  ['custom_json_1', ['string', 'number', 'time', 'json']],
];

type Values = {
  string_values: fc.Arbitrary<string[]>;
  number_values: fc.Arbitrary<number[]>;
};

const filter: fc.Arbitrary<JsonFilter> = of(fieldTypes).chain(([field_name, types]) =>
  of(types).chain((field_type) =>
    of(operatorsOf[field_type]).chain((operator) =>
      fc.record({
        field_name: fc.constant(field_name),
        field_type: fc.constant<string>(field_type),
        operator: fc.constant<string>(operator),
        ...valuesOf(field_type, operator),
        ...(field_name.startsWith('custom_json')
          ? { json_path: fc.array(of(['k', 'l', '0', '1']), { maxLength: 2 }) }
          : {}),
      }),
    ),
  ),
);

function valuesOf(type: string, operator: string): Partial<Values> {
  if (operator === 'is_set' || operator === 'is_not_set') return {};
  if (type === 'number') return { number_values: fc.tuple(of(numbers)) };
  if (operator === 'in_the_last_days') return { string_values: fc.tuple(of(['0', '1', '10'])) };
  if (type === 'time') {
    const time = of([...times, ...days]);
    const isRange = operator.endsWith('in_date_range');
    return { string_values: isRange ? fc.tuple(time, time) : fc.tuple(time) };
  }
  const isMany = /contains|in_array/.test(operator);
  return { string_values: fc.array(of(words), { minLength: 1, maxLength: isMany ? 3 : 1 }) };
}

const leaf: fc.Arbitrary<JsonNode> = fc
  .oneof(
    fc.record({
      source: fc.constant('contacts'),
      contact: fc.record({ filters: fc.array(filter, { minLength: 1, maxLength: 2 }) }),
    }),
    fc.record({
      source: fc.constant('contact_lists'),
      contact_list: fc.record({
        operator: of(['in', 'not_in']),
        list_id: of([...lists, 'unknown']),
        status: of(['', ...statuses]),
      }),
    }),
    fc.record({
      source: fc.constant('contact_timeline'),
      contact_timeline: of([
        ...names.map((name) => `custom_event.${name}`),
        ...Object.keys(kinds),
        'contact.created',
      ]).chain((kind) =>
        fc
          .tuple(
            fc.record({
              kind: fc.constant(kind),
              count_operator: of(['at_least', 'at_most', 'exactly']),
              count_value: of([0, 1, 2]),
              ...(kind in kinds ? { template_id: of(['', 't1']) } : {}),
            }),
            timeframe,
          )
          .map(([condition, times]) => ({ ...condition, ...times })),
      ),
    }),
    fc.record({
      source: fc.constant('custom_events_goals'),
      custom_events_goal: fc
        .tuple(
          fc.record({
            goal_type: of(['*', ...goalTypes]),
            goal_name: of(['', ...names]),
            aggregate_operator: of(['sum', 'count', 'avg', 'min', 'max']),
            operator: of(['gte', 'lte', 'eq', 'between']),
            value: of([-1, 0, 0.1, 0.3, 1, 2, 2.5]),
            value_2: of([0, 0.3, 2.6]),
          }),
          timeframe,
        )
        .map(([condition, times]) => ({ ...condition, ...times })),
    }),
  )
  .map((each) => ({ kind: 'leaf', leaf: each }));

export const tree: fc.Arbitrary<JsonNode> = fc.letrec<{ node: JsonNode }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3, depthSize: 'medium' },
    leaf,
    fc.record({
      kind: fc.constant('branch' as const),
      branch: fc.record({
        operator: of(['and', 'or'] as const),
        leaves: fc.array(tie('node'), { minLength: 1, maxLength: 3 }),
      }),
    }),
  ),
})).node;
