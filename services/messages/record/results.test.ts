import { expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { useService } from '../test/given.ts';
import { recordResults } from './results.ts';

const given = useService();

const workspaceId = 'w-young';
const owner = crypto.randomUUID();
const broadcastId = crypto.randomUUID();
const sql = <Row>(text: string, ...values: unknown[]) =>
  query<Row>(given.context.outcomes.fork(), text, values);

async function record(ids: readonly string[]): Promise<void> {
  const { outcomes, outbox } = given.context;
  const sent = { status: 'sent' as const, info: '250 ok', dueAt: undefined };
  const rest = { isUnknown: false, isBounce: false };
  const results = ids.map((id) => ({ id, ...sent, ...rest }));
  await recordResults({ outcomes, outbox, owner }, workspaceId, results);
}

/** Claimed messages. */
async function add(count: number): Promise<string[]> {
  const rows = await sql<{ id: string }>(
    `insert into messages (workspace_id, id, contact_email, broadcast_id, list_id, template_id, template_version,
       integration_id, by_hand, status, attempts, owner, lease_until, created_at, updated_at)
     select $1, gen_random_uuid(), 'p@example.com', $4, 'l', 't', 1, 'i', false, 'sending', 1, $2::uuid,
       now() + interval '1 hour', now(), now()
     from generate_series(1, $3::int)
     returning id`,
    workspaceId,
    owner,
    count,
    broadcastId,
  );
  return rows.map(({ id }) => id);
}

/** Entries that were read of indexes other than the primary key's. */
async function readElsewhere(): Promise<number> {
  await sql('select pg_stat_force_next_flush()');
  const [row] = await sql<{ count: number }>(
    `select sum(idx_tup_read)::int as count from pg_stat_user_indexes
     where relname = 'messages' and schemaname = current_schema() and indexrelname <> 'messages_pkey'`,
  );
  return row?.count ?? 0;
}

test('a plan made for a young table reads no other messages of the workspace later', async () => {
  // At this size the primary key has two levels, and the index by broadcast, whose entries are
  // alike, has one: it looks cheaper.
  const young = await add(400);
  // PostgreSQL keeps its sixth plan.
  for (let time = 0; time < 8; time += 1) await record(young.slice(0, 200));
  const ids = await add(2_000);
  const before = await readElsewhere();
  await record(ids.slice(0, 200));
  expect((await readElsewhere()) - before).toBe(0);
});
