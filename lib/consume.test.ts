import { create } from '@bufbuild/protobuf';
import { createRouterTransport } from '@connectrpc/connect';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  type ConsumeEventsRequest,
  ConsumeEventsRequestSchema,
  EventConsumerService,
} from '#gen/postrider/events/v1/events_pb.ts';
import { consumeOnce, deliverEvents } from './consume.ts';
import type { EventBatch } from './jobs.ts';
import { query, type Store } from './store.ts';
import { givenStore, things } from './test/given.ts';

let store: Store;
beforeAll(async () => {
  store = await givenStore();
});
beforeEach(() => query(store.fork(), 'delete from things', []));
afterAll(() => store.close());

const batch = (batchId: string = crypto.randomUUID()) =>
  create(ConsumeEventsRequestSchema, { workspaceId: 'w1', batchId });

/** Applies a batch by writing a thing down; a thing that is there already is an error. */
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

test('a batch that fails leaves nothing, and its repeat is applied', async () => {
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

test('a batch that comes five times at once is applied once', async () => {
  const request = batch();
  await Promise.all([1, 2, 3, 4, 5].map((number) => put(`thing ${number}`, request)));
  expect(await things(store)).toHaveLength(1);
});

const job: EventBatch = {
  consumer: 'contacts',
  workspaceId: 'w1',
  batchId: '3f2c8a52-2b0e-4f36-9a55-8d0d0c7c2b11',
  events: [
    { type: 'email.bounced', occurredAt: '2030-01-01T12:00:00.000Z', data: { list_id: 'one' } },
  ],
};

test('a job brings its batch to its consumer as it was', async () => {
  const got: ConsumeEventsRequest[] = [];
  const transport = createRouterTransport((router) => {
    router.service(EventConsumerService, {
      consumeEvents(request) {
        got.push(request);
        return {};
      },
    });
  });
  await deliverEvents({ contacts: transport })(job);
  expect(got).toMatchObject([
    {
      workspaceId: 'w1',
      batchId: job.batchId,
      events: [
        {
          type: 'email.bounced',
          occurredAt: { seconds: BigInt(Date.parse('2030-01-01T12:00:00Z') / 1_000) },
          data: { list_id: 'one' },
        },
      ],
    },
  ]);
});

test('a job for a consumer that is not there fails, so that it is repeated', async () => {
  await expect(deliverEvents({})(job)).rejects.toThrow('no consumer contacts');
});
