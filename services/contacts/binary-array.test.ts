import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { testStore } from '../../test/setup/database.ts';
import { binaryArray, type ElementType } from './binary-array.ts';
import { openContactsStore } from './store.ts';

let store: Store;
beforeAll(async () => {
  store = await testStore(openContactsStore);
});
afterAll(() => store.close());

/** The elements as PostgreSQL writes them. */
async function stored(type: ElementType, values: readonly unknown[]) {
  const rows = await query<{ text: string | null }>(
    store.fork(),
    `select case when element is null then null else to_jsonb(element)::text end as text
     from unnest($1::${type}[]) with ordinality as row (element, place) order by place`,
    [binaryArray(type, values)],
  );
  return rows.map(({ text }) => (text === null ? null : JSON.parse(text)));
}

test('texts arrive as they are, whatever they hold and however long they are', async () => {
  const texts = ['', 'null', ' a\n"b"\\,{}', 'ünïcode 🦜', '\u{10ffff}'.repeat(20_000), 'x'];
  expect(await stored('text', texts)).toEqual(texts);
});

test('numbers keep every bit', async () => {
  const numbers = [0, -0.1, 1 / 7, 1e21, Number.MAX_VALUE, Number.MIN_VALUE, 2 ** 53 + 2];
  expect(await stored('float8', numbers)).toEqual(numbers);
});

test('times keep their microseconds from the year 1 to 9999', async () => {
  const micros = ['0001-01-01T00:00:00Z', '1999-12-31T23:59:59Z', '9999-12-31T23:59:59Z'].map(
    (text) => BigInt(Date.parse(text)) * 1_000n + 1n,
  );
  expect(await stored('timestamptz', micros)).toEqual([
    '0001-01-01T00:00:00.000001+00:00',
    '1999-12-31T23:59:59.000001+00:00',
    '9999-12-31T23:59:59.000001+00:00',
  ]);
});

test('JSON arrives as its value', async () => {
  const values = [{ a: [1, 'two', null, { b: true }] }, {}, { 'ü"': '\\' }];
  const texts = values.map((value) => JSON.stringify(value));
  expect(await stored('jsonb', texts)).toEqual(values);
});

test('missing elements are null, and so is an array without any', async () => {
  expect(await stored('text', [undefined, 'a', null])).toEqual([null, 'a', null]);
  expect(await stored('float8', [1, undefined])).toEqual([1, null]);
  expect(binaryArray('text', [undefined, null])).toBeNull();
  expect(binaryArray('text', [])).toBeNull();
  const rows = await query(
    store.fork(),
    'select a, b from unnest($1::text[], $2::float8[]) as row (a, b)',
    [binaryArray('text', ['x', 'y']), binaryArray('float8', [undefined, undefined])],
  );
  expect(rows).toEqual([
    { a: 'x', b: null },
    { a: 'y', b: null },
  ]);
});
