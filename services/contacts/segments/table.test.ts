import { readFileSync } from 'node:fs';
import type { DescEnum } from '@bufbuild/protobuf';
import { expect, test } from '@jest/globals';
import {
  SegmentAggregateSchema,
  SegmentCountOperatorSchema,
  SegmentFilterOperatorSchema,
  SegmentGoalOperatorSchema,
  SegmentListOperatorSchema,
  SegmentTimeframeSchema,
} from '#gen/postrider/contacts/v1/segments_pb.ts';
import { filterOperators, operatorsOf } from './tree/read-filter.ts';

const text = readFileSync(new URL('../../../docs/guides/segments.md', import.meta.url), 'utf8');
const rows = [...text.matchAll(/^\| `(\w+)` +\| ([^|]*?) +\|/gm)].map(([, operator, of]) => ({
  operator,
  of: of ?? '',
}));

/** The words of an enum, without the one that stands for none. */
const wordsOf = ({ values, sharedPrefix = '' }: DescEnum) =>
  values.slice(1).map(({ name }) => name.toLowerCase().slice(sharedPrefix.length));

const inTable = (operator: string, kind: RegExp) =>
  rows.some((row) => row.operator === operator && kind.test(row.of));

test.each([
  ['filters', SegmentFilterOperatorSchema, /field_type|string|number|time|json/],
  ['lists', SegmentListOperatorSchema, /list/],
  ['counts', SegmentCountOperatorSchema, /count/],
  ['timeframes', SegmentTimeframeSchema, /timeframe/],
  ['aggregates', SegmentAggregateSchema, /goals/],
  ['goals', SegmentGoalOperatorSchema, /goal operators/],
] as const)('the table of docs/guides/segments.md has every operator of %s', (_, desc, kind) => {
  expect(wordsOf(desc).filter((word) => !inTable(word, kind))).toEqual([]);
});

test('the table says which field types an operator is for', () => {
  const wrong = Object.entries(operatorsOf).flatMap(([reading, operators]) =>
    Object.values(filterOperators).filter((operator) => {
      const isOf = inTable(operator, new RegExp(`every|\\b${reading}\\b`));
      return isOf !== operators.includes(operator);
    }),
  );
  expect(wrong).toEqual([]);
});
