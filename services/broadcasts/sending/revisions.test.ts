import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { until } from '../../../test/stack/until.ts';
import { type Given, givenBroadcast, givenService } from '../test/given.ts';

let given: Given;
beforeAll(async () => {
  given = await givenService();
});
afterAll(() => given.context.store.close());

const sql = (text: string) => query(given.context.store.fork(), text, []);

test('a watch reports once that the row of its broadcast has changed or is deleted', async () => {
  const { revisions } = given.context;
  const keys = await Promise.all(
    Array.from({ length: 4 }, () => givenBroadcast(given, { status: 'sending' })),
  );
  const [revision] = await query<{ revision: number }>(
    given.context.store.fork(),
    'select revision from broadcasts limit 1',
    [],
  );
  const changed = jest.fn();
  const ends = keys.map((key, place) =>
    revisions.watch(key, revision?.revision ?? -1, () => changed(place)),
  );
  await sql(`update broadcasts set revision = revision + 1 where id = '${keys[1]?.id}'`);
  await sql(`delete from broadcasts where id = '${keys[2]?.id}'`);
  await until('both are reported', async () => changed.mock.calls.length === 2);
  // Two more looks.
  await sql('select pg_sleep(0.6)');
  expect(changed.mock.calls.flat().sort()).toEqual([1, 2]);
  for (const end of ends) end();
});
