import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { testStore } from '../../../test/setup/database.ts';
import { planOf } from '../../../test/setup/plan.ts';
import { openMessagesStore } from '../store.ts';
import { byExternalIdSql } from './requests.ts';

let store: Store;
beforeAll(async () => {
  store = await testStore(openMessagesStore);
  await addMessages(store, 2_000);
});
afterAll(() => store.close());

/** Into a young table, which nobody has counted yet; each row has a time of its own. */
async function addMessages(to: Store, count: number): Promise<void> {
  await query(
    to.fork(),
    `insert into messages (workspace_id, id, external_id, contact_email, broadcast_id, template_id, template_version,
       integration_id, status, attempts, created_at, updated_at)
     select 'w', gen_random_uuid(), gen_random_uuid()::text, 'a@a.example', 'b', 't', 1, 'i', 'sending', 1, at, at
     from generate_series(1, $1::int) number, lateral (select now() - number * interval '1 second' as at) times`,
    [count],
  );
}

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

test('external ids are looked up by their index, however young the table is', async () => {
  const young = await testStore(openMessagesStore);
  for (const count of [0, 100, 100, 100, 700, 1_000, 4_000]) {
    await addMessages(young, count);
    const plan = await planOf(young, `(generic_plan) ${byExternalIdSql}`);
    expect(plan).toContain('using messages_external_once');
  }
  await young.close();
});

test('an external id that a thousand workspaces use is looked up without their rows', async () => {
  const shared = await testStore(openMessagesStore);
  await query(
    shared.fork(),
    `insert into messages (workspace_id, id, external_id, contact_email, template_id, template_version,
       integration_id, status, attempts, created_at, updated_at)
     select 'w' || number % 1000, gen_random_uuid(), 'order-' || number / 1000, 'a@a.example', 't', 1, 'i', 'sending', 1, now(), now()
     from generate_series(1, 20000) number`,
    [],
  );
  const text = byExternalIdSql.replaceAll('$1', `'w500'`).replaceAll('$2', `'{order-1}'`);
  for (const isCounted of [false, true]) {
    if (isCounted) await query(shared.fork(), 'analyze messages', []);
    const plan = await planOf(shared, `(analyze, timing off) ${text}`);
    expect(plan).toMatch(/Index Scan (on|using) messages_external_once/);
    expect(plan).not.toContain('Rows Removed');
  }
  await shared.close();
});
