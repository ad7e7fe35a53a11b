/** Counted for each variation of a broadcast; individual sends are not counted. */
const columns = [
  'sent',
  'delivered',
  'opened',
  'clicked',
  'bounced',
  'soft_bounced',
  'complained',
  'unsubscribed',
  'failed',
  'skipped',
  'deferred',
  'unknown',
] as const;
type Column = (typeof columns)[number];

/**
 * Statements of several connections count side by side, each in a row of its own, so that one alone
 * may be negative.
 */
const slots = 8;

/**
 * The step of a statement that counts what it has changed, in SQL: `row` names the step with the
 * changed rows of messages of workspace $1, and `by` says by how much a row changes each count. In
 * the order of the key, so that parallel statements can't deadlock.
 */
export function countStep(row: string, by: Partial<Record<Column, string>>): string {
  const counted = columns.filter((column) => by[column]);
  const sums = counted.map((column) => `sum(${by[column]}) as ${column}`);
  return `counted as (
    insert into variation_counts as c (workspace_id, broadcast_id, template_id, slot, ${counted.join(', ')})
    select $1::text, broadcast_id, template_id, pg_backend_pid() % ${slots}, ${sums.join(', ')}
    from ${row}
    where broadcast_id is not null and not by_hand and (${counted.map((column) => `${by[column]} <> 0`).join(' or ')})
    group by broadcast_id, template_id
    order by broadcast_id, template_id
    on conflict (workspace_id, broadcast_id, template_id, slot) do update set
      ${counted.map((column) => `${column} = c.${column} + excluded.${column}`).join(', ')}
  )`;
}
