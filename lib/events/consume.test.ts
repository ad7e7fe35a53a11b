import { create } from '@bufbuild/protobuf';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  type ConsumeEventsRequest,
  ConsumeEventsRequestSchema,
} from '#gen/postrider/events/v1/events_pb.ts';
import { query } from '../postgres/query.ts';
import type { Store } from '../postgres/store.ts';
import { givenStore, things } from '../test/given.ts';
import { consumeOnce } from './consume.ts';

let store: Store;
beforeAll(async () => {
  store = await givenStore();
});
beforeEach(() => query(store.fork(), 'delete from things', []));
afterAll(() => store.close());

const batch = (batchId: string = crypto.randomUUID()) =>
  create(ConsumeEventsRequestSchema, { workspaceId: 'w1', batchId });

/** Applies a batch by inserting a row; a row that exists already is an error. */
function put(name: string, request: ConsumeEventsRequest): Promise<void> {
  return consumeOnce(store, request, async (em) => {
    await query(em, 'insert into things (name) values ($1)', [name]);
  });
}

test('a repeated batch does nothing', async () => {
  const request = batch();
  await put('first', request);
  await put('second', request);
  expect(await things(store)).toEqual(['first']);
});

test('different batches are all applied', async () => {
  await put('first', batch());
  await put('second', batch());
  expect(await things(store)).toEqual(['first', 'second']);
});

test('a batch that fails changes nothing, and its repeat is applied', async () => {
  await put('taken', batch());
  const request = batch();
  await expect(
    consumeOnce(store, request, async (em) => {
      await query(em, `insert into things (name) values ('half')`, []);
      await query(em, `insert into things (name) values ('taken')`, []);
    }),
  ).rejects.toMatchObject({ code: '23505' });
  expect(await things(store)).toEqual(['taken']);
  await put('half', request);
  expect(await things(store)).toEqual(['half', 'taken']);
});

test('a batch that arrives five times at once is applied once', async () => {
  const request = batch();
  await Promise.all([1, 2, 3, 4, 5].map((number) => put(`thing ${number}`, request)));
  expect(await things(store)).toHaveLength(1);
});
