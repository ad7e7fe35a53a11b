import {
  SegmentAggregate,
  SegmentCountOperator,
  type SegmentGoalCondition,
  SegmentGoalOperator,
  type SegmentListCondition,
  SegmentListOperator,
  SegmentTimeframe,
  type SegmentTimelineCondition,
} from '#gen/postrider/contacts/v1/segments_pb.ts';
import { goalTypes } from '#lib/goal-types.ts';
import { statuses } from '../../consent/membership.ts';
import { nodeFault, shown } from './fault.ts';
import { readSpan } from './times.ts';
import {
  customEventPrefix,
  type GoalLeaf,
  type ListLeaf,
  messageKinds,
  plainKinds,
  type TimelineLeaf,
  type TimeSpan,
} from './tree.ts';

const idLengthMax = 255;
const countMax = 1_000_000;

export function readListLeaf(condition: SegmentListCondition, path: string): ListLeaf {
  const { operator, listId, status } = condition;
  if (operator !== SegmentListOperator.IN && operator !== SegmentListOperator.NOT_IN) {
    throw nodeFault(`${path}.operator`, "invalid list operator (must be 'in' or 'not_in')");
  }
  if (listId === '' || listId.length > idLengthMax) {
    throw nodeFault(`${path}.list_id`, "contact_list condition must have 'list_id'");
  }
  if (status !== '' && !statuses.some((each) => each === status)) {
    throw nodeFault(`${path}.status`, `invalid status: ${shown(status)}`);
  }
  return { kind: 'list', isIn: operator === SegmentListOperator.IN, listId, status };
}

const countOperators: Readonly<Record<number, TimelineLeaf['count']['operator']>> = {
  [SegmentCountOperator.AT_LEAST]: 'at_least',
  [SegmentCountOperator.AT_MOST]: 'at_most',
  [SegmentCountOperator.EXACTLY]: 'exactly',
};

export function readTimelineLeaf(
  condition: SegmentTimelineCondition,
  path: string,
  zone: string,
): TimelineLeaf {
  const { kind, countValue, templateId } = condition;
  if (!isKind(kind)) {
    throw nodeFault(
      `${path}.kind`,
      kind === '' ? "contact_timeline condition must have 'kind'" : `invalid kind: ${shown(kind)}`,
    );
  }
  const operator = countOperators[condition.countOperator];
  if (!operator) {
    throw nodeFault(
      `${path}.count_operator`,
      "invalid count_operator (must be 'at_least', 'at_most', or 'exactly')",
    );
  }
  if (countValue < 0 || countValue > countMax) {
    throw nodeFault(`${path}.count_value`, `count_value must be between 0 and ${countMax}`);
  }
  if (templateId !== '' && !messageKinds.has(kind)) {
    throw nodeFault(`${path}.template_id`, 'template_id is only for kinds of messages');
  }
  if (templateId.length > idLengthMax) {
    throw nodeFault(`${path}.template_id`, `must have at most ${idLengthMax} characters`);
  }
  const count = { operator, value: countValue };
  const span = readTimeframe(condition, path, zone);
  return { kind: 'timeline', event: kind, count, templateId, span };
}

function isKind(kind: string): boolean {
  if (messageKinds.has(kind) || plainKinds.has(kind)) return true;
  return (
    kind.startsWith(customEventPrefix) &&
    /^[a-z0-9_./-]{1,100}$/.test(kind.slice(customEventPrefix.length))
  );
}

const aggregates: Readonly<Record<number, GoalLeaf['aggregate']>> = {
  [SegmentAggregate.SUM]: 'sum',
  [SegmentAggregate.COUNT]: 'count',
  [SegmentAggregate.AVG]: 'avg',
  [SegmentAggregate.MIN]: 'min',
  [SegmentAggregate.MAX]: 'max',
};

export function readGoalLeaf(
  condition: SegmentGoalCondition,
  path: string,
  zone: string,
): GoalLeaf {
  const { goalType, goalName } = condition;
  if (goalType !== '*' && !goalTypes.includes(goalType)) {
    throw nodeFault(`${path}.goal_type`, `invalid goal_type: ${shown(goalType)}`);
  }
  if (goalName.length > idLengthMax) {
    throw nodeFault(`${path}.goal_name`, `must have at most ${idLengthMax} characters`);
  }
  const aggregate = aggregates[condition.aggregateOperator];
  if (!aggregate) {
    throw nodeFault(
      `${path}.aggregate_operator`,
      "invalid aggregate_operator (must be 'sum', 'count', 'avg', 'min', or 'max')",
    );
  }
  const bounds = readBounds(condition, path);
  const span = readTimeframe(condition, path, zone);
  return { kind: 'goal', goalType, goalName, aggregate, ...bounds, span };
}

function readBounds({ operator, value, value2 }: SegmentGoalCondition, path: string) {
  if (!Number.isFinite(value)) throw nodeFault(`${path}.value`, 'must be a finite number');
  switch (operator) {
    case SegmentGoalOperator.GTE:
      return { least: value, most: Number.POSITIVE_INFINITY };
    case SegmentGoalOperator.LTE:
      return { least: Number.NEGATIVE_INFINITY, most: value };
    case SegmentGoalOperator.EQ:
      return { least: value, most: value };
    case SegmentGoalOperator.BETWEEN:
      if (value2 === undefined) {
        throw nodeFault(`${path}.value_2`, "between operator requires 'value_2'");
      }
      if (!Number.isFinite(value2)) throw nodeFault(`${path}.value_2`, 'must be a finite number');
      return { least: value, most: value2 };
    default:
      throw nodeFault(
        `${path}.operator`,
        "invalid operator (must be 'gte', 'lte', 'eq', or 'between')",
      );
  }
}

const timeframes: Readonly<Record<number, string>> = {
  [SegmentTimeframe.UNSPECIFIED]: 'anytime',
  [SegmentTimeframe.ANYTIME]: 'anytime',
  [SegmentTimeframe.IN_DATE_RANGE]: 'in_date_range',
  [SegmentTimeframe.BEFORE_DATE]: 'before_date',
  [SegmentTimeframe.AFTER_DATE]: 'after_date',
  [SegmentTimeframe.IN_THE_LAST_DAYS]: 'in_the_last_days',
};

function readTimeframe(
  {
    timeframeOperator,
    timeframeValues,
  }: Pick<SegmentTimelineCondition, 'timeframeOperator' | 'timeframeValues'>,
  path: string,
  zone: string,
): TimeSpan {
  const operator = timeframes[timeframeOperator];
  if (!operator) throw nodeFault(`${path}.timeframe_operator`, 'invalid timeframe_operator');
  if (operator !== 'anytime' && timeframeValues.length === 0) {
    throw nodeFault(
      `${path}.timeframe_values`,
      `timeframe_values required for timeframe_operator '${operator}'`,
    );
  }
  return readSpan({ operator, values: timeframeValues, zone }, `${path}.timeframe_values`);
}
