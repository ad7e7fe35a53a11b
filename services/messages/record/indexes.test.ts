import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { testStore } from '../../../test/setup/database.ts';
import { planOf } from '../../../test/setup/plan.ts';
import { openMessagesStore } from '../store.ts';

let store: Store;
beforeAll(async () => {
  store = await testStore(openMessagesStore);
  // A young table, which nobody has counted yet; each row has a time of its own.
  await query(
    store.fork(),
    `insert into messages (workspace_id, id, contact_email, broadcast_id, template_id, template_version,
       integration_id, status, attempts, created_at, updated_at)
     select 'w', gen_random_uuid(), 'a@a.example', 'b', 't', 1, 'i', 'sending', 1, at, at
     from generate_series(1, 2000) number, lateral (select now() - number * interval '1 second' as at) times`,
    [],
  );
});
afterAll(() => store.close());

test('a message is looked up by its key, never by skipping through an index of pages', async () => {
  const plan = await planOf(
    store,
    `select status from messages where workspace_id = 'w' and id = '00000000-0000-4000-8000-000000000000' limit 1`,
  );
  expect(plan).toContain('using messages_pkey');
});

test('the results of messages change no index', async () => {
  await store.fork().transactional(async (em) => {
    await query(
      em,
      `update messages set status = 'sent', provider_id = '1', updated_at = now(), lease_until = null`,
      [],
    );
    const [row] = await query<{ updated: number; hot: number }>(
      em,
      `select pg_stat_get_xact_tuples_updated(oid)::int as updated,
         pg_stat_get_xact_tuples_hot_updated(oid)::int as hot
       from pg_class where relname = 'messages' and relnamespace = current_schema()::regnamespace`,
      [],
    );
    expect(row).toEqual({ updated: 2000, hot: 2000 });
  });
});
