import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { testStore } from '../../../test/setup/database.ts';
import { planOf } from '../../../test/setup/plan.ts';
import { openContactsStore } from '../store.ts';

let store: Store;
beforeAll(async () => {
  store = await testStore(openContactsStore);
  // Young tables, as after a first import: PostgreSQL has no statistics yet. Each row has a time of
  // its own.
  await query(
    store.fork(),
    `with person as (
       select 'person' || number || '@a.example' as email, now() - number * interval '1 second' as at
       from generate_series(1, 2000) number
     ), joined as (
       insert into memberships (workspace_id, list_id, email, status, created_at, updated_at)
       select 'w', 'list', email, 'active', at, at from person
     )
     insert into contacts (workspace_id, email, created_at, updated_at) select 'w', email, at, at from person`,
    [],
  );
});
afterAll(() => store.close());

test('an address is looked up by a key, never by skipping through an index of pages', async () => {
  const member = await planOf(
    store,
    `select status from memberships
    where workspace_id = 'w' and list_id = 'list' and email = 'person7@a.example' and deleted_at is null limit 1`,
  );
  expect(member).toMatch(/using memberships_(pkey|contact)/);
  const contact = await planOf(
    store,
    `select first_name from contacts where workspace_id = 'w' and email = 'person7@a.example' limit 1`,
  );
  expect(contact).toContain('using contacts_pkey');
});
