import { createRouterTransport } from '@connectrpc/connect';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  type ConsumeEventsRequest,
  EventConsumerService,
} from '#gen/postrider/events/v1/events_pb.ts';
import { openMessagesStore } from '../../services/messages/store.ts';
import { testStore } from '../../test/setup/database.ts';
import { until } from '../../test/stack/until.ts';
import { onNudge } from '../jobs/nudges.ts';
import { createLog } from '../log.ts';
import { query } from '../postgres/query.ts';
import type { Store } from '../postgres/store.ts';
import { emailData, emailDataSql } from '../test/email-events.ts';
import { firstTry } from '../test/job-helpers.ts';
import { noticesOf } from '../test/notices.ts';
import { runEventJobs } from './event-runner.ts';
import {
  deliverEvents,
  type EventBatch,
  eventsOf,
  type Outbox,
  openOutbox,
  writeWithEvents,
} from './outbox.ts';

const got: ConsumeEventsRequest[] = [];
const contacts = createRouterTransport((router) => {
  router.service(EventConsumerService, {
    consumeEvents(request) {
      got.push(request);
      return {};
    },
  });
});
const outbox = openOutbox('messages', { contacts });

let store: Store;
beforeAll(async () => {
  store = await testStore(openMessagesStore);
});
beforeEach(async () => {
  got.length = 0;
  await query(store.fork(), 'delete from messages_jobs._private_jobs', []);
});
afterAll(() => store.close());

const occurredAt = new Date('2030-01-01T12:00:00Z');

function events(type: string, count: number) {
  return Array.from({ length: count }, (_, number) => ({
    type,
    data: emailData(`${number}`, type),
  }));
}

/** The waiting batches, by size. */
async function batches(): Promise<EventBatch[]> {
  const rows = await query<{ payload: EventBatch }>(
    store.fork(),
    `select payload from messages_jobs._private_jobs order by json_array_length(payload->'types') desc`,
    [],
  );
  return rows.map(({ payload }) => payload);
}

async function tell(facts: ReturnType<typeof events>, to: Outbox = outbox): Promise<EventBatch[]> {
  await query(store.fork(), 'delete from messages_jobs._private_jobs', []);
  await writeWithEvents(
    { em: store.fork(), outbox: to, workspaceId: 'w1' },
    {
      steps: 'fact as (select * from json_to_recordset($1::json) as fact (type text, data json))',
      events: [
        {
          types: ['email.bounced', 'email.opened'],
          type: 'type',
          occurredAt: '$2',
          data: 'data',
          from: 'fact',
        },
      ],
      answer: 'true as told',
    },
    [JSON.stringify(facts), occurredAt],
  );
  return batches();
}

test('1,200 events make three jobs, each with its own batch id', async () => {
  const told = await tell(events('email.bounced', 1_200));
  expect(told.map((batch) => batch.types.length)).toEqual([500, 500, 200]);
  expect(new Set(told.map(({ batchId }) => batchId)).size).toBe(3);
  expect(told.every((batch) => batch.consumer === 'contacts' && batch.workspaceId === 'w1')).toBe(
    true,
  );
  const numbers = told.flatMap((batch) =>
    eventsOf(batch).map(({ dataJson }) => Number(JSON.parse(dataJson).message_id)),
  );
  expect(numbers.toSorted((a, b) => a - b)).toEqual([...Array(1_200).keys()]);
});

test('a batch has about 4 MiB at most, however few events that is', async () => {
  const data = emailData('x'.repeat(900_000));
  const told = await tell(Array.from({ length: 12 }, () => ({ type: 'email.bounced', data })));
  expect(told.map((batch) => batch.types.length)).toEqual([5, 4, 3]);
});

test('events of other types make no job, and are in no batch', async () => {
  expect(await tell(events('email.opened', 10))).toEqual([]);
  expect(await tell([])).toEqual([]);
  const mixed = await tell([...events('email.opened', 10), ...events('email.bounced', 1)]);
  expect(mixed.map(({ types }) => types)).toEqual([['email.bounced']]);
});

test('a consumer that is not deployed gets no events', async () => {
  expect(await tell(events('email.bounced', 1), openOutbox('messages', {}))).toEqual([]);
});

test('a service without consumers sends no events', async () => {
  const nobody = { ...openOutbox('templates', { contacts }), service: 'messages' };
  expect(await tell(events('email.bounced', 1), nobody)).toEqual([]);
});

test('a change and its events are one statement: a change that fails sends no events', async () => {
  const change = (steps: string) =>
    writeWithEvents<{ count: number }>(
      { em: store.fork(), outbox, workspaceId: 'w1' },
      {
        steps,
        events: [
          {
            types: ['email.bounced'],
            occurredAt: 'now()',
            data: emailDataSql('n'),
            from: 'numbers',
          },
        ],
        answer: '(select count(*)::int from numbers) as count',
      },
      [],
    );
  expect(await change('numbers as (select n from generate_series(1, 3) n)')).toEqual({ count: 3 });
  expect((await batches()).map((batch) => batch.types.length)).toEqual([3]);
  await expect(
    change('numbers as (select 1 / n as n from generate_series(0, 3) n)'),
  ).rejects.toMatchObject({ code: '22012' });
  expect(await batches()).toHaveLength(1);
});

const bounced = (number: number) => ({
  steps: `fact as (select ${number} as number)`,
  events: [
    {
      types: ['email.bounced'],
      occurredAt: 'now()',
      data: emailDataSql('number'),
      from: 'fact',
    },
  ],
  answer: 'true as told',
});

test('the runners of this process hear of events once these are committed, and of none that are undone', async () => {
  const heard: number[] = [];
  const end = onNudge('messages', (jobs) => heard.push(jobs));
  const change = async (isUndone: boolean) =>
    store.fork().transactional(async (em) => {
      await writeWithEvents({ em, outbox, workspaceId: 'w1' }, bounced(1), []);
      await writeWithEvents({ em, outbox, workspaceId: 'w1' }, bounced(2), []);
      expect(heard).toEqual([]);
      if (isUndone) throw new Error('undone');
    });
  await expect(change(true)).rejects.toThrow('undone');
  expect(heard).toEqual([]);
  await change(false);
  expect(heard).toEqual([1, 1]);
  await tell(events('email.bounced', 1_200));
  expect(heard).toEqual([1, 1, 3]);
  end();
  await tell(events('email.bounced', 1));
  expect(heard).toHaveLength(3);
});

test('events send no notice to the connections of the database', async () => {
  const { url } = store;
  const heard = await noticesOf({ url, jobs: 'messages_jobs' }, () =>
    tell(events('email.bounced', 1)),
  );
  expect(heard).toEqual(['last']);
});

test('events are delivered as soon as they are committed, not when the runner looks by itself', async () => {
  const runner = runEventJobs({
    url: store.url,
    service: 'messages',
    task: deliverEvents('messages', { contacts }),
    log: createLog('test', 'silent'),
  });
  const deliver = async (number: number) => {
    await writeWithEvents({ em: store.fork(), outbox, workspaceId: 'w1' }, bounced(number), []);
    await until('it is delivered', async () => got.length > number, { withinMs: 15_000 });
  };
  await deliver(0);
  const startedAtMs = Date.now();
  for (let number = 1; number <= 20; number += 1) await deliver(number);
  await runner.stop();
  // A runner looks once a second.
  expect(Date.now() - startedAtMs).toBeLessThan(10_000);
});

test('a job delivers its batch unchanged', async () => {
  const [batch] = await tell(events('email.bounced', 1));
  await deliverEvents('messages', { contacts })([batch], firstTry);
  expect(got).toMatchObject([
    {
      workspaceId: 'w1',
      batchId: batch?.batchId,
      events: [
        {
          type: 'email.bounced',
          occurredAt: { seconds: BigInt(occurredAt.getTime() / 1_000) },
          dataJson: JSON.stringify(emailData('0')),
        },
      ],
    },
  ]);
});

test('a job for an unreachable consumer fails, so that it is repeated', async () => {
  const [batch] = await tell(events('email.bounced', 1));
  await expect(deliverEvents('messages', {})([batch], firstTry)).rejects.toThrow(
    'no consumer contacts',
  );
});
