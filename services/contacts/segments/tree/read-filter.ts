import {
  type SegmentContactCondition,
  SegmentFieldType,
  type SegmentFilter,
  SegmentFilterOperator,
} from '#gen/postrider/contacts/v1/segments_pb.ts';
import { contactFields } from '../../contact/fields.ts';
import { nodeFault, shown } from './fault.ts';
import { next, readSpan, readTime, requireValues } from './times.ts';
import type { FieldsLeaf, Filter, Reading, Test, TimeSpan } from './tree.ts';

const filtersMax = 20;
const valuesMax = 100;
const valueLengthMax = 1_000;
const pathMax = 10;

const readings: Readonly<Record<number, Reading>> = {
  [SegmentFieldType.STRING]: 'string',
  [SegmentFieldType.NUMBER]: 'number',
  [SegmentFieldType.TIME]: 'time',
  [SegmentFieldType.JSON]: 'json',
};

/** The words of the operators, in JSON. */
export const filterOperators = {
  [SegmentFilterOperator.EQUALS]: 'equals',
  [SegmentFilterOperator.NOT_EQUALS]: 'not_equals',
  [SegmentFilterOperator.GT]: 'gt',
  [SegmentFilterOperator.GTE]: 'gte',
  [SegmentFilterOperator.LT]: 'lt',
  [SegmentFilterOperator.LTE]: 'lte',
  [SegmentFilterOperator.CONTAINS]: 'contains',
  [SegmentFilterOperator.NOT_CONTAINS]: 'not_contains',
  [SegmentFilterOperator.IS_SET]: 'is_set',
  [SegmentFilterOperator.IS_NOT_SET]: 'is_not_set',
  [SegmentFilterOperator.IN_DATE_RANGE]: 'in_date_range',
  [SegmentFilterOperator.NOT_IN_DATE_RANGE]: 'not_in_date_range',
  [SegmentFilterOperator.BEFORE_DATE]: 'before_date',
  [SegmentFilterOperator.AFTER_DATE]: 'after_date',
  [SegmentFilterOperator.IN_THE_LAST_DAYS]: 'in_the_last_days',
  [SegmentFilterOperator.IN_ARRAY]: 'in_array',
} as const;

export type FilterOperator = (typeof filterOperators)[keyof typeof filterOperators];

const operatorWords: Readonly<Record<number, FilterOperator>> = filterOperators;

const comparisons = ['equals', 'not_equals', 'gt', 'gte', 'lt', 'lte'] as const;
const contains = ['contains', 'not_contains'] as const;
const presence = ['is_set', 'is_not_set'] as const;
const dates = [
  'in_date_range',
  'not_in_date_range',
  'before_date',
  'after_date',
  'in_the_last_days',
] as const;

/** The operators of each reading. */
export const operatorsOf: Readonly<Record<Reading, readonly FilterOperator[]>> = {
  string: [...comparisons, ...contains, ...presence],
  number: [...comparisons, ...presence],
  time: [...comparisons, ...dates, ...presence],
  json: ['equals', 'not_equals', ...contains, ...presence, 'in_array'],
};

/** How each field of a contact is read; a field with JSON is read as the filter says. */
const fieldReadings: ReadonlyMap<string, Reading> = new Map([
  ['email', 'string'],
  ['created_at', 'time'],
  ['updated_at', 'time'],
  ...contactFields.map(({ name, kind }): [string, Reading] => [
    name,
    kind === 'datetime' ? 'time' : kind,
  ]),
]);

export function readFields(
  { filters }: SegmentContactCondition,
  path: string,
  zone: string,
): FieldsLeaf {
  if (filters.length === 0) {
    throw nodeFault(`${path}.filters`, 'contact condition must have at least one filter');
  }
  if (filters.length > filtersMax) {
    throw nodeFault(`${path}.filters`, `contact condition has at most ${filtersMax} filters`);
  }
  return {
    kind: 'fields',
    filters: filters.map((filter, place) => readFilter(filter, `${path}.filters[${place}]`, zone)),
  };
}

function readFilter(filter: SegmentFilter, path: string, zone: string): Filter {
  const { fieldName: field, jsonPath } = filter;
  if (field === '') throw nodeFault(`${path}.field_name`, "filter must have 'field_name'");
  const kind = fieldReadings.get(field);
  if (!kind) throw nodeFault(`${path}.field_name`, `invalid field_name: ${shown(field)}`);
  if (filter.fieldType === SegmentFieldType.UNSPECIFIED) {
    throw nodeFault(`${path}.field_type`, "filter must have 'field_type'");
  }
  const reading = readings[filter.fieldType];
  if (!reading || (kind !== 'json' && reading !== kind)) {
    throw nodeFault(`${path}.field_type`, `field_type of ${field} must be '${kind}'`);
  }
  if (kind !== 'json' && jsonPath.length > 0) {
    throw nodeFault(`${path}.json_path`, `${field} has no json_path`);
  }
  checkPath(jsonPath, `${path}.json_path`);
  const test = readTest(filter, reading, { path, zone });
  return { field, reading, test, ...(kind === 'json' ? { path: jsonPath } : {}) };
}

function checkPath(keys: readonly string[], path: string): void {
  if (keys.length > pathMax) throw nodeFault(path, `json_path has at most ${pathMax} keys`);
  keys.forEach((key, place) => {
    if (key.length > valueLengthMax) {
      throw nodeFault(`${path}[${place}]`, `must have at most ${valueLengthMax} characters`);
    }
    // PostgreSQL would count from the end of an array.
    if (/^\s*[+-]\s*\d+$/.test(key)) {
      throw nodeFault(`${path}[${place}]`, 'places in arrays are numbers from 0');
    }
  });
}

type At = { path: string; zone: string };

function readTest(filter: SegmentFilter, reading: Reading, at: At): Test {
  if (filter.operator === SegmentFilterOperator.UNSPECIFIED) {
    throw nodeFault(`${at.path}.operator`, "filter must have 'operator'");
  }
  const operator = operatorWords[filter.operator];
  if (!operator || !operatorsOf[reading].includes(operator)) {
    throw nodeFault(
      `${at.path}.operator`,
      `invalid operator${operator ? ` ${operator}` : ''} for field_type '${reading}'`,
    );
  }
  if (operator === 'is_set' || operator === 'is_not_set') return { operator };
  if (reading === 'number') return readNumberTest(operator, filter.numberValues, at);
  const values = readTexts(filter.stringValues, { operator, reading }, at);
  if (reading === 'time') return readTimeTest(operator, values, at);
  if (operator === 'contains' || operator === 'not_contains' || operator === 'in_array') {
    return { operator, values };
  }
  requireValues(values, 1, `${at.path}.string_values`);
  return { operator: operator as (typeof comparisons)[number], value: values[0] ?? '' };
}

function readNumberTest(operator: FilterOperator, values: readonly number[], { path }: At): Test {
  const place = `${path}.number_values`;
  if (values.length === 0) throw nodeFault(place, "number filter must have 'number_values'");
  requireValues(values, 1, place);
  const [value = 0] = values;
  if (!Number.isFinite(value)) throw nodeFault(`${place}[0]`, 'must be a finite number');
  return { operator: operator as (typeof comparisons)[number], value };
}

function readTexts(
  values: readonly string[],
  { operator, reading }: { operator: FilterOperator; reading: Reading },
  { path }: At,
): readonly string[] {
  const place = `${path}.string_values`;
  if (values.length === 0) {
    const who = operator === 'in_array' ? 'in_array operator' : `${reading} filter`;
    throw nodeFault(place, `${who} must have 'string_values'`);
  }
  if (values.length > valuesMax) throw nodeFault(place, `must have at most ${valuesMax} values`);
  const long = values.findIndex((value) => value.length > valueLengthMax);
  if (long >= 0) {
    throw nodeFault(`${place}[${long}]`, `must have at most ${valueLengthMax} characters`);
  }
  return values;
}

/** A comparison with a time is one with the span of its microsecond. */
function readTimeTest(
  operator: FilterOperator,
  values: readonly string[],
  { path, zone }: At,
): Test {
  const place = `${path}.string_values`;
  const span = spanOf(operator, values, { path: place, zone });
  const isNegative = operator === 'not_equals' || operator === 'not_in_date_range';
  return { operator: isNegative ? 'not_in_span' : 'in_span', span };
}

function spanOf(operator: FilterOperator, values: readonly string[], { path, zone }: At): TimeSpan {
  if (!comparisons.some((each) => each === operator)) {
    return readSpan({ operator, values, zone }, path);
  }
  requireValues(values, 1, path);
  const time = readTime(values[0] ?? '', zone, `${path}[0]`);
  switch (operator) {
    case 'gt':
      return { since: next(time) };
    case 'gte':
      return { since: time };
    case 'lt':
      return { until: time };
    case 'lte':
      return { until: next(time) };
    default:
      return { since: time, until: next(time) };
  }
}
