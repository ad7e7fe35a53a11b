import { expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { givenDeliveries, givenSubscription, givenWorkspace, useService } from '../test/given.ts';
import { claimDue } from './claim.ts';
import { recordResults } from './results.ts';

const given = useService();
const success = { status: 200, body: '', error: null, retryAfterMs: 0 };
const sql = <Row>(text: string) => query<Row>(given.context.store.fork(), text, []);

/** Deliveries that were read in another way than by their key. */
async function readElsewhere(): Promise<number> {
  await sql('select pg_stat_force_next_flush()');
  const [row] = await sql<{ count: number }>(
    `select (seq_tup_read + (
         select sum(idx_tup_read) from pg_stat_user_indexes
         where relid = tables.relid and indexrelname <> 'deliveries_pkey'
       ))::int as count
     from pg_stat_user_tables tables where relname = 'deliveries' and schemaname = current_schema()`,
  );
  return row?.count ?? 0;
}

test('a plan made for a young table reads no other deliveries later', async () => {
  const workspaceId = givenWorkspace();
  const { id } = await givenSubscription(given, workspaceId);
  const key = { workspaceId, id };
  const store = given.context.store;
  const add = async (count: number) => {
    await givenDeliveries(given, workspaceId, Array(count).fill({ subscriptionId: id }));
  };
  const claim = async (slots: number) => {
    const [claimed] = await claimDue(store, 'first', [{ key, slots }], given.clock.now);
    return claimed!.deliveries.map(({ id, attempt }) => ({
      ...{ key, id, attempt },
      ...{ answer: success, endedAt: given.clock.now },
    }));
  };
  await add(20);
  // The index by address has ids as well, and one address could be skipped.
  await sql(`update deliveries set payload = json_build_object('email', id)`);
  await sql('vacuum analyze deliveries');
  // PostgreSQL keeps its sixth plan.
  for (let time = 0; time < 8; time += 1) await recordResults(store, await claim(1), given.context);
  await add(2_000);
  const claimed = await claim(64);
  expect(claimed).toHaveLength(64);
  const before = await readElsewhere();
  await recordResults(store, claimed, given.context);
  expect((await readElsewhere()) - before).toBe(0);
});
