import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import {
  and,
  goal,
  happened,
  inList,
  type JsonNode,
  treeMessage,
  where,
} from '../../test/segment-tree.ts';
import { readTree } from './read-tree.ts';
import { isRelative, readsOf } from './tree.ts';

const filter = 'tree.branch.leaves[1].leaf.contact.filters[0]';
const goals = {
  goal_type: '*',
  aggregate_operator: 'sum',
  operator: 'gte',
  value: 1,
};

const cases: [JsonNode, string][] = [
  [where('shoe_size', 'equals', ['1']), `${filter}.field_name: invalid field_name: shoe_size`],
  [where('', 'equals', ['1']), `${filter}.field_name: filter must have 'field_name'`],
  [
    where('country', 'in_array', ['1']),
    `${filter}.operator: invalid operator in_array for field_type 'string'`,
  ],
  [where('country', 'equals'), `${filter}.string_values: string filter must have 'string_values'`],
  [where('country', 'equals', ['a', 'b']), `${filter}.string_values: must have exactly 1 value`],
  [
    where('country', 'contains', Array(101).fill('a')),
    `${filter}.string_values: must have at most 100 values`,
  ],
  [
    where('country', 'equals', ['a'.repeat(1_001)]),
    `${filter}.string_values[0]: must have at most 1000 characters`,
  ],
  [where('country', 'equals', [1]), `${filter}.field_type: field_type of country must be 'string'`],
  [
    where('custom_number_1', 'gt', [], { field_type: 'number' }),
    `${filter}.number_values: number filter must have 'number_values'`,
  ],
  [
    where('country', 'is_set', [], { json_path: ['a'] }),
    `${filter}.json_path: country has no json_path`,
  ],
  [
    where('custom_json_1', 'is_set', [], { field_type: 'json', json_path: ['-1'] }),
    `${filter}.json_path[0]: places in arrays are numbers from 0`,
  ],
  [
    where('created_at', 'before_date', ['2030-02-30']),
    `${filter}.string_values[0]: must be a time in RFC 3339 or a day as YYYY-MM-DD`,
  ],
  [
    where('created_at', 'before_date', ['2030-02-28T10:00:00']),
    `${filter}.string_values[0]: must be a time in RFC 3339 or a day as YYYY-MM-DD`,
  ],
  [
    where('created_at', 'in_the_last_days', ['36501']),
    `${filter}.string_values[0]: must be a whole number from 0 to 36500`,
  ],
  [
    where('created_at', 'in_the_last_days', ['-1']),
    `${filter}.string_values[0]: must be a whole number from 0 to 36500`,
  ],
  [
    inList(''),
    "tree.branch.leaves[1].leaf.contact_list.list_id: contact_list condition must have 'list_id'",
  ],
  [
    inList('a', 'in', 'dead'),
    'tree.branch.leaves[1].leaf.contact_list.status: invalid status: dead',
  ],
  [
    happened('segment.joined', 'at_least', 1),
    'tree.branch.leaves[1].leaf.contact_timeline.kind: invalid kind: segment.joined',
  ],
  [
    happened('list.*', 'at_least', 1),
    'tree.branch.leaves[1].leaf.contact_timeline.kind: invalid kind: list.*',
  ],
  [
    happened('open_email', 'at_least', -1),
    'tree.branch.leaves[1].leaf.contact_timeline.count_value: count_value must be between 0 and 1000000',
  ],
  [
    happened('list.subscribed', 'at_least', 1, { template_id: 't' }),
    'tree.branch.leaves[1].leaf.contact_timeline.template_id: template_id is only for kinds of messages',
  ],
  [
    happened('open_email', 'at_least', 1, { timeframe_operator: 'after_date' }),
    "tree.branch.leaves[1].leaf.contact_timeline.timeframe_values: timeframe_values required for timeframe_operator 'after_date'",
  ],
  [
    goal({ ...goals, goal_type: 'win' }),
    'tree.branch.leaves[1].leaf.custom_events_goal.goal_type: invalid goal_type: win',
  ],
  [
    goal({ ...goals, operator: 'between' }),
    "tree.branch.leaves[1].leaf.custom_events_goal.value_2: between operator requires 'value_2'",
  ],
  [
    { kind: 'branch', branch: { operator: 'and', leaves: [] } },
    'tree.branch.leaves[1].branch.leaves: branch must have at least one leaf',
  ],
  [
    { kind: 'leaf', leaf: { source: 'contacts' } },
    "tree.branch.leaves[1].leaf: leaf with source 'contacts' must have 'contact' field",
  ],
];

test.each(cases)('%j is refused with the place of the fault', (node, text) => {
  const tree = treeMessage(and(where('country', 'is_set'), node));
  expect(() => readTree(tree, 'UTC')).toThrow(
    expect.objectContaining({ code: Code.InvalidArgument, rawMessage: text }),
  );
});

test('a tree reads what its leaves are about', () => {
  const tree = readTree(
    treeMessage(
      and(
        where('country', 'is_set'),
        where('updated_at', 'is_set'),
        where('email', 'is_set'),
        inList('news'),
        happened('custom_event.orders/paid', 'at_least', 1),
        happened('open_email', 'at_least', 1),
        happened('contact.updated', 'at_least', 1),
        happened('list.removed', 'at_least', 1),
        goal(goals),
      ),
    ),
    'UTC',
  );
  expect(readsOf(tree).toSorted()).toEqual([
    '*',
    'contact',
    'event.orders/paid',
    'field.country',
    'goal',
    'list.news',
    'lists',
    'message.open_email',
  ]);
  expect(isRelative(tree)).toBe(false);
});

test.each([
  where('created_at', 'in_the_last_days', ['1']),
  happened('open_email', 'exactly', 0, {
    timeframe_operator: 'in_the_last_days',
    timeframe_values: ['1'],
  }),
  goal({ ...goals, timeframe_operator: 'in_the_last_days', timeframe_values: ['1'] }),
])('%j depends on the time', (node) => {
  expect(isRelative(readTree(treeMessage(and(node)), 'UTC'))).toBe(true);
});
