import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import { type SegmentNode, SegmentNodeSchema } from '#gen/postrider/contacts/v1/segments_pb.ts';

/** Trees in the words of the public JSON. */
export type JsonNode =
  | { kind: 'branch'; branch: { operator: 'and' | 'or'; leaves: JsonNode[] } }
  | { kind: 'leaf'; leaf: JsonLeaf };
export type JsonLeaf = {
  source: string;
  contact?: { filters: JsonFilter[] };
  contact_list?: { operator: string; list_id: string; status?: string };
  contact_timeline?: JsonTimeline;
  custom_events_goal?: JsonGoal;
};
export type JsonFilter = {
  field_name: string;
  field_type: string;
  operator: string;
  string_values?: string[];
  number_values?: number[];
  json_path?: string[];
};
export type JsonTimeframe = { timeframe_operator?: string; timeframe_values?: string[] };
export type JsonTimeline = JsonTimeframe & {
  kind: string;
  count_operator: string;
  count_value: number;
  template_id?: string;
};
export type JsonGoal = JsonTimeframe & {
  goal_type: string;
  goal_name?: string;
  aggregate_operator: string;
  operator: string;
  value: number;
  value_2?: number;
};

const named = (prefix: string, word: string | undefined) =>
  word === undefined ? {} : `SEGMENT_${prefix}_${word.toUpperCase()}`;

/** The message of a tree, as the gateway would decode it. */
export function treeMessage(node: JsonNode): SegmentNode {
  return fromJson(SegmentNodeSchema, encode(node));
}

function encode(node: JsonNode): JsonValue {
  const kind = named('NODE_KIND', node.kind);
  if (node.kind === 'leaf') return { kind, leaf: encodeLeaf(node.leaf) };
  const { operator, leaves } = node.branch;
  return {
    kind,
    branch: { operator: named('BRANCH_OPERATOR', operator), leaves: leaves.map(encode) },
  };
}

function encodeLeaf(leaf: JsonLeaf): JsonValue {
  const { contact, contact_list, contact_timeline, custom_events_goal } = leaf;
  const value = {
    source: named('SOURCE', leaf.source),
    contact: contact && {
      filters: contact.filters.map((filter) => ({
        ...filter,
        field_type: named('FIELD_TYPE', filter.field_type),
        operator: named('FILTER_OPERATOR', filter.operator),
      })),
    },
    contact_list: contact_list && {
      ...contact_list,
      operator: named('LIST_OPERATOR', contact_list.operator),
    },
    contact_timeline: contact_timeline && {
      ...contact_timeline,
      count_operator: named('COUNT_OPERATOR', contact_timeline.count_operator),
      ...timeframe(contact_timeline),
    },
    custom_events_goal: custom_events_goal && {
      ...custom_events_goal,
      aggregate_operator: named('AGGREGATE', custom_events_goal.aggregate_operator),
      operator: named('GOAL_OPERATOR', custom_events_goal.operator),
      ...timeframe(custom_events_goal),
    },
  };
  return JSON.parse(JSON.stringify(value));
}

function timeframe({ timeframe_operator }: JsonTimeframe) {
  return timeframe_operator === undefined
    ? {}
    : { timeframe_operator: named('TIMEFRAME', timeframe_operator) };
}

export const and = (...leaves: JsonNode[]): JsonNode => ({
  kind: 'branch',
  branch: { operator: 'and', leaves },
});
export const or = (...leaves: JsonNode[]): JsonNode => ({
  kind: 'branch',
  branch: { operator: 'or', leaves },
});

export function where(
  field_name: string,
  operator: string,
  values: readonly (string | number)[] = [],
  more: Partial<JsonFilter> = {},
): JsonNode {
  const numbers = values.filter((value) => typeof value === 'number');
  const texts = values.filter((value) => typeof value === 'string');
  const field_type =
    numbers.length > 0 ? 'number' : /_at$|datetime/.test(field_name) ? 'time' : 'string';
  const filter = { field_name, field_type, operator, string_values: texts, number_values: numbers };
  return {
    kind: 'leaf',
    leaf: { source: 'contacts', contact: { filters: [{ ...filter, ...more }] } },
  };
}

export const inList = (list_id: string, operator = 'in', status = ''): JsonNode => ({
  kind: 'leaf',
  leaf: { source: 'contact_lists', contact_list: { operator, list_id, status } },
});

export const happened = (
  kind: string,
  count_operator: string,
  count_value: number,
  more: Partial<JsonTimeline> = {},
): JsonNode => ({
  kind: 'leaf',
  leaf: {
    source: 'contact_timeline',
    contact_timeline: { kind, count_operator, count_value, ...more },
  },
});

export const goal = (condition: JsonGoal): JsonNode => ({
  kind: 'leaf',
  leaf: { source: 'custom_events_goals', custom_events_goal: condition },
});
