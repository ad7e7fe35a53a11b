import { create } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient, createRouterTransport } from '@connectrpc/connect';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  type ConsumeEventsRequest,
  ConsumeEventsRequestSchema,
  EventConsumerService,
} from '#gen/postrider/events/v1/events_pb.ts';
import { createLog } from '../log.ts';
import { query } from '../postgres/query.ts';
import type { Store } from '../postgres/store.ts';
import { givenStore, things } from '../test/given.ts';
import { type ConsumedBatch, consumeBatchByBatch, consumeOnce } from './consume.ts';

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

/** A consumer that puts the workspace and the type of an event as a thing, unless it is `bad`. */
const consumer = createClient(
  EventConsumerService,
  createRouterTransport((router) => {
    const consume = (batch: ConsumedBatch) => {
      const [{ type } = { type: '' }] = batch.events;
      if (type === 'bad') throw new ConnectError('bad', Code.InvalidArgument);
      if (type === 'broken') throw new Error('a secret');
      return consumeOnce(store, batch, async (em) => {
        await query(em, 'insert into things (name) values ($1)', [`${batch.workspaceId} ${type}`]);
      });
    };
    router.rpc(
      EventConsumerService.method.consumeEventBatches,
      consumeBatchByBatch(createLog('test', 'silent'), async (batch) => consume(batch)),
    );
  }),
);

const eventOf = (workspaceId: string, type: string) => ({
  ...{ workspaceId, batchId: crypto.randomUUID() },
  events: [{ type, dataJson: '{}' }],
});

test('a group of batches is applied batch by batch, and one that fails spoils no other', async () => {
  const batches = [
    eventOf('w1', 'first'),
    eventOf('w1', 'bad'),
    eventOf('w2', 'broken'),
    eventOf('w1', 'last'),
  ];
  const { outcomes } = await consumer.consumeEventBatches({ batches });
  expect(outcomes.map(({ error }) => error)).toEqual([
    '',
    '[invalid_argument] bad',
    '[internal] internal error',
    '',
  ]);
  await consumer.consumeEventBatches({ batches: batches.slice(0, 1) });
  expect((await things(store)).toSorted()).toEqual(['w1 first', 'w1 last']);
});

test('a group of which no batch can be applied fails as a whole', async () => {
  const batches = [eventOf('w1', 'bad'), eventOf('w2', 'bad')];
  await expect(consumer.consumeEventBatches({ batches })).rejects.toMatchObject({
    code: Code.InvalidArgument,
  });
});
