import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { openStore, type Store } from '#lib/postgres/store.ts';
import { testStore } from '../../../test/setup/database.ts';
import { migrations, openTemplatesStore } from '../store.ts';
import { createRequest, type Given, givenService } from '../test/given.ts';

let store: Store;
let given: Given;
beforeAll(async () => {
  const { 'm0003-lifecycle': _, ...others } = migrations;
  const open = (url: string) =>
    openStore({ name: 'templates_before_m0003', url, entities: [], migrations: others });
  const before = await testStore(open);
  await before.close();
  store = await openTemplatesStore(before.url);
  given = await givenService({ store });
});
afterAll(() => given.close());

/** Writes a version as processes of before do. */
async function givenVersion(id: string, version: number, deletedAt: Date | null = null) {
  await query(
    store.fork(),
    `insert into templates (workspace_id, id, version, name, channel, category, email, web, template_macro_id,
       integration_id, test_data, settings, translations, compiled, created_at, updated_at, deleted_at)
     values ('acme', $1, $2, 'T', 'web', 'other', null, '{"content":{"a":"ä"}}', 'kept', '', null, null, '{}', null,
       now(), now(), $3)`,
    [id, version, deletedAt],
  );
}

const rows = (id: string) =>
  query(
    store.fork(),
    'select version, is_newest, size_bytes > 20 as is_sized from templates where id = $1 order by version',
    [id],
  );

test('templates from before are live in their newest version, and go on', async () => {
  await givenVersion('two', 1);
  await givenVersion('two', 2);
  await givenVersion('gone', 1, new Date());
  await store.migrate();
  expect(await rows('two')).toEqual([
    { version: 1, is_newest: false, is_sized: true },
    { version: 2, is_newest: true, is_sized: true },
  ]);
  expect(await rows('gone')).toMatchObject([{ is_newest: false }]);
  const { templates } = await given.client.listTemplates({ workspaceId: 'acme' });
  expect(templates).toMatchObject([
    { id: 'two', version: 2, templateMacroId: 'kept', templateMacroVersion: 0 },
  ]);
  // Before, layouts were stored only, so nothing was made with one.
  await given.client.createTemplate({ ...createRequest(), id: 'kept' });
  await given.client.deleteTemplate({ workspaceId: 'acme', id: 'kept' });
  expect(
    (await given.client.createTemplate({ ...createRequest(), id: 'gone' })).template,
  ).toMatchObject({ version: 2 });
});

test('a process of before, which is still running, creates templates', async () => {
  await givenVersion('late', 1);
  expect(await rows('late')).toEqual([{ version: 1, is_newest: true, is_sized: true }]);
  await given.client.deleteTemplate({ workspaceId: 'acme', id: 'late' });
});
