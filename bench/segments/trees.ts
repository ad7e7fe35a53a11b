const leaf = (source: string, name: string, condition: object) => ({
  kind: 'leaf',
  leaf: { source, [name]: condition },
});
const and = (...leaves: object[]) => ({ kind: 'branch', branch: { operator: 'and', leaves } });
const field = (filter: object) => leaf('contacts', 'contact', { filters: [filter] });

/** A field, how often something happened, and a sum of goals. */
export const threeLeaves = and(
  field({
    field_name: 'country',
    field_type: 'string',
    operator: 'contains',
    string_values: ['DE', 'FR'],
  }),
  leaf('contact_timeline', 'contact_timeline', {
    kind: 'custom_event.orders/paid',
    count_operator: 'at_least',
    count_value: 2,
    timeframe_operator: 'in_the_last_days',
    timeframe_values: ['90'],
  }),
  leaf('custom_events_goals', 'custom_events_goal', {
    goal_type: 'purchase',
    aggregate_operator: 'sum',
    operator: 'gte',
    value: 100,
  }),
);

/** Two leaves, one of which every change of the load touches. */
export const liveTree = (number: number) =>
  and(
    field({
      field_name: 'custom_number_1',
      field_type: 'number',
      operator: 'lt',
      number_values: [number],
    }),
    leaf('custom_events_goals', 'custom_events_goal', {
      goal_type: 'purchase',
      aggregate_operator: 'count',
      operator: 'gte',
      value: (number % 5) + 1,
    }),
  );
