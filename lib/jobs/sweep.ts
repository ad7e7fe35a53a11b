import type { Task, TaskList, TaskSpec } from 'graphile-worker';

/** Rows that are kept for a time, in those of a service's tables that it has. */
const shortLived = [
  { table: 'idempotency_keys', condition: "created_at < now() - interval '24 hours'" },
  { table: 'consumed_batches', condition: "consumed_at < now() - interval '30 days'" },
  { table: 'template_users', condition: "pushed_at < now() - interval '1 day'" },
  { table: 'form_solutions', condition: 'expires_at < now()' },
];

/** Some 17,000 rows of the shortest kind, which take some 20 ms. */
const blocksEach = 128;

type Options = {
  /** After it, a job of its own goes on. */
  workMaxMs: number;
  /** How jobs of a table are added. */
  spec: TaskSpec;
};

/** The place in a table that is next. */
type Place = { table: string; block: number };

/**
 * Tasks that delete expired rows. `sweep` has a job for each table, so that none waits for another.
 * A table is read once from its beginning to its end, in portions by place, which need no index and
 * take the same time however many rows have expired.
 */
export function sweepTasks({ workMaxMs, spec }: Options): TaskList {
  // One at a time: other jobs keep their places.
  const inTurn = { ...spec, queueName: 'sweep' };
  const sweep: Task = async (_, { addJob }) => {
    for (const { table } of shortLived) {
      const place: Place = { table, block: 0 };
      await addJob('sweepTable', place, { ...inTurn, jobKey: `sweep ${table}` });
    }
  };
  const sweepTable: Task = async (payload, { addJob, withPgClient }) => {
    const { table, block } = payload as Place;
    const rule = shortLived.find((each) => each.table === table);
    if (!rule) return;
    const endAtMs = performance.now() + workMaxMs;
    const next = await withPgClient(async (client) => {
      const there = await client.query('select to_regclass($1) is not null as there', [table]);
      if (!there.rows[0]?.there) return undefined;
      for (let from = block; ; from += blocksEach) {
        const { rows } = await client.query(portionSql(rule), [from, from + blocksEach]);
        if (from + blocksEach >= Number(rows[0]?.blocks)) return undefined;
        if (performance.now() >= endAtMs) return from + blocksEach;
      }
    });
    if (next === undefined) return;
    await addJob('sweepTable', { table, block: next } satisfies Place, inTurn);
  };
  return { sweep, sweepTable };
}

const portionSql = ({ table, condition }: (typeof shortLived)[number]): string => `
  with gone as (
    delete from ${table}
    where ctid >= format('(%s,0)', $1::int8)::tid and ctid < format('(%s,0)', $2::int8)::tid
      and ${condition}
  )
  select pg_relation_size(to_regclass('${table}')) / current_setting('block_size')::int as blocks`;
