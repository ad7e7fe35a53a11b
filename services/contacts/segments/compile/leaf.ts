import { timelineRowsSql } from '../../timeline/rows.ts';
import {
  type GoalLeaf,
  isAboutMessages,
  type Leaf,
  type ListLeaf,
  type TimelineLeaf,
} from '../tree/tree.ts';
import { filterSql } from './filter.ts';
import type { Statement } from './statement.ts';

/** SQL of a condition on `contact`; true or false, never null. */
export function leafSql(statement: Statement, leaf: Leaf, zone: string): string {
  switch (leaf.kind) {
    case 'fields':
      return leaf.filters.map((filter) => filterSql(statement, filter, zone)).join(' and ');
    case 'list':
      return listSql(statement, leaf);
    case 'timeline':
      return timelineSql(statement, leaf);
    case 'goal':
      return goalSql(statement, leaf);
  }
}

function listSql(statement: Statement, { isIn, listId, status }: ListLeaf): string {
  const { workspaceId } = statement.inputs;
  const workspace = statement.bind(workspaceId);
  const list = statement.bind(listId);
  const found = statement.join(`
    select email from memberships
    where workspace_id = ${workspace} and list_id = ${list} and deleted_at is null
      and ${status === '' ? 'true' : `status = ${statement.bind(status)}`}
      and ${statement.inScope('email')}
      and exists (select from lists where workspace_id = ${workspace} and id = ${list} and deleted_at is null)`);
  return isIn ? found : `not (${found})`;
}

/**
 * How often something happens to the contacts for whom a condition holds, or, if negated, does not.
 */
export type Times = { least: number; most: number; isNegated: boolean };

/** True of contacts without any if it is negated, or if `least` is 0. */
export function timesOf({ operator, value }: TimelineLeaf['count']): Times {
  if (operator === 'at_least') {
    return { least: value, most: Number.POSITIVE_INFINITY, isNegated: false };
  }
  if (operator === 'exactly' && value > 0) return { least: value, most: value, isNegated: false };
  const least = operator === 'exactly' ? 1 : value + 1;
  return { least, most: Number.POSITIVE_INFINITY, isNegated: true };
}

function timelineSql(statement: Statement, leaf: TimelineLeaf): string {
  const times = timesOf(leaf.count);
  if (times.least === 0) return 'true';
  const found = statement.join(
    isAboutMessages(leaf)
      ? `select unnest(${statement.bind(statement.inputs.facts?.get(leaf) ?? [], 'text[]')}) as email`
      : `select email from (${happenings(statement, leaf)}) happening
         group by email ${having(statement, times)}`,
  );
  return times.isNegated ? `not (${found})` : found;
}

function having(statement: Statement, { least, most }: Times): string {
  const atMost = Number.isFinite(most) ? ` and count(*) <= ${statement.bind(most, 'int')}` : '';
  return least === 1 && atMost === ''
    ? ''
    : `having count(*) >= ${statement.bind(least, 'int')}${atMost}`;
}

/** An address for each time that something happened. */
function happenings(statement: Statement, { event, span }: TimelineLeaf): string {
  const rows = timelineRowsSql({
    workspace: statement.bind(statement.inputs.workspaceId),
    kinds: [event],
    scope: (email) => statement.inScope(email),
    ...statement.boundsOf(span),
    bind: (value) => statement.bind(value, Array.isArray(value) ? 'text[]' : 'text'),
  });
  return `select email from (${rows}) entry`;
}

function goalSql(statement: Statement, leaf: GoalLeaf): string {
  const { aggregate, least, most } = leaf;
  const holds = goalsHold(statement, leaf);
  // Without any goal a sum and a number are 0, and there is no row to find: those for whom it does
  // not hold are looked for.
  const isOfNone = (aggregate === 'sum' || aggregate === 'count') && least <= 0 && most >= 0;
  const found = statement.join(`
    select email from (${goals(statement, leaf)}) goal
    group by email having ${isOfNone ? `not (${holds})` : holds}`);
  return isOfNone ? `not (${found})` : found;
}

const aggregates: Readonly<Record<Exclude<GoalLeaf['aggregate'], 'avg'>, string>> = {
  sum: 'coalesce(sum(goal_value), 0)',
  count: 'count(*)',
  min: 'min(goal_value)',
  max: 'max(goal_value)',
};

/** Compared as decimal numbers: to make floats of them takes as long as to add them up. */
function goalsHold(statement: Statement, { aggregate, least, most }: GoalLeaf): string {
  const isAverage = aggregate === 'avg';
  const value = isAverage ? 'sum(goal_value)' : aggregates[aggregate];
  const bound = (limit: number) =>
    `${statement.bind(limit, 'numeric')}${isAverage ? ' * count(goal_value)' : ''}`;
  const parts = [
    ...(Number.isFinite(least) ? [`${value} >= ${bound(least)}`] : []),
    ...(Number.isFinite(most) ? [`${value} <= ${bound(most)}`] : []),
  ];
  return parts.join(' and ');
}

function goals(statement: Statement, { goalType, goalName, span }: GoalLeaf): string {
  const workspace = statement.bind(statement.inputs.workspaceId);
  const ofType =
    goalType === '*' ? 'goal_type is not null' : `goal_type = ${statement.bind(goalType)}`;
  const ofName = goalName === '' ? 'true' : `goal_name = ${statement.bind(goalName)}`;
  return `select email, goal_value from custom_events
    where workspace_id = ${workspace} and deleted_at is null and ${ofType} and ${ofName}
      and ${statement.inSpan('occurred_at', span)} and ${statement.inScope('email')}`;
}
