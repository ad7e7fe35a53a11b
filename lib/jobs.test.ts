import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { TaskList } from 'graphile-worker';
import { openMessagesStore } from '../services/messages/store.ts';
import { testStore } from '../test/setup/database.ts';
import { until } from '../test/stack/until.ts';
import {
  addEvents,
  addJob,
  type EventBatch,
  type JobRunner,
  migrateJobs,
  runJobs,
} from './jobs.ts';
import { createLog } from './log.ts';
import { query, type Store } from './store.ts';
import { givenStore, service, things } from './test/given.ts';

let store: Store;
let messages: Store;
let runner: JobRunner | undefined;
const done: unknown[] = [];

beforeAll(async () => {
  [store, messages] = await Promise.all([givenStore(), testStore(openMessagesStore)]);
});
afterEach(async () => {
  await runner?.stop();
  runner = undefined;
  done.length = 0;
});
afterAll(() => Promise.all([store.close(), messages.close()]));

const note = async (payload: unknown): Promise<void> => void done.push(payload);

function start(tasks: TaskList = { note }): void {
  runner = runJobs({ url: store.url, service, tasks, log: createLog('test', 'silent') });
}

async function add(number: number, more: { key?: string; runAt?: Date } = {}): Promise<void> {
  const job = { task: 'note', payload: { number }, ...more };
  await store.fork().transactional((em) => addJob(em, service, job));
}

const untilDone = (count: number): Promise<void> =>
  until(`${count} jobs are done`, async () => done.length >= count, { withinMs: 15_000 });

test('a job runs once its change is committed, and not before', async () => {
  start();
  await add(1);
  await untilDone(1);
  await store.fork().transactional(async (em) => {
    await query(em, 'insert into things (name) values ($1)', ['with a job']);
    await addJob(em, service, { task: 'note', payload: { number: 2 } });
    // A job of another transaction, added later, is done while this one is still hidden.
    await add(3);
    await untilDone(2);
  });
  await untilDone(3);
  expect(done).toEqual([{ number: 1 }, { number: 3 }, { number: 2 }]);
  expect(await things(store)).toContain('with a job');
});

test('a job whose change is rolled back never runs', async () => {
  start();
  const failing = store.fork().transactional(async (em) => {
    await addJob(em, service, { task: 'note', payload: { number: 1 } });
    throw new Error('changed my mind');
  });
  await expect(failing).rejects.toThrow('changed my mind');
  await add(2);
  await untilDone(1);
  expect(done).toEqual([{ number: 2 }]);
  expect(await query(store.fork(), `select 1 from ${service}_jobs.jobs`, [])).toEqual([]);
});

test('of waiting jobs with one key the last one runs', async () => {
  await add(1, { key: 'same' });
  await add(2, { key: 'other' });
  await add(3, { key: 'same' });
  start();
  await untilDone(2);
  expect(done).toHaveLength(2);
  expect(done).toEqual(expect.arrayContaining([{ number: 2 }, { number: 3 }]));
});

test('a job waits for its time', async () => {
  start();
  const runAt = new Date(Date.now() + 700);
  await add(1, { runAt });
  await add(2);
  await untilDone(2);
  expect(done).toEqual([{ number: 2 }, { number: 1 }]);
  expect(Date.now()).toBeGreaterThanOrEqual(runAt.getTime());
});

test('a task that fails is repeated until it succeeds', async () => {
  let tries = 0;
  start({
    note: async (payload) => {
      tries += 1;
      if (tries === 1) throw new Error('not yet');
      await note(payload);
    },
  });
  await add(1);
  await untilDone(1);
  expect(done).toEqual([{ number: 1 }]);
  expect(tries).toBe(2);
});

test('the runner comes back when another service migrates its jobs in the same database', async () => {
  start();
  await add(1);
  await untilDone(1);
  await migrateJobs(store.url, 'neighbour');
  // Each is added after the runner has seen the notice of the one before.
  await add(2);
  await untilDone(2);
  await migrateJobs(store.url, 'another');
  await add(3);
  await untilDone(3);
  expect(done).toEqual([{ number: 1 }, { number: 2 }, { number: 3 }]);
});

test('the runner comes back when its connections are cut', async () => {
  start();
  await add(1);
  await untilDone(1);
  await query(
    messages.fork(),
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1',
    [new URL(store.url).pathname.slice(1)],
  );
  await until('the store is back', () =>
    add(2).then(
      () => true,
      () => false,
    ),
  );
  await untilDone(2);
  expect(done).toEqual([{ number: 1 }, { number: 2 }]);
});

test('a stopped runner leaves what comes later to the next one', async () => {
  start();
  await add(1);
  await untilDone(1);
  await runner?.stop();
  await add(2);
  expect(await query(store.fork(), `select 1 from ${service}_jobs.jobs`, [])).toHaveLength(1);
  start();
  await untilDone(2);
  expect(done).toEqual([{ number: 1 }, { number: 2 }]);
});

const occurredAt = new Date('2030-01-01T12:00:00Z');

function events(type: string, count: number) {
  return Array.from({ length: count }, (_, number) => ({ type, occurredAt, data: { number } }));
}

/** The batches that wait, by size. */
async function batches(): Promise<EventBatch[]> {
  const rows = await query<{ payload: EventBatch }>(
    messages.fork(),
    `select payload from messages_jobs._private_jobs order by json_array_length(payload->'events') desc`,
    [],
  );
  return rows.map(({ payload }) => payload);
}

async function tell(workspaceId: string, facts: ReturnType<typeof events>): Promise<EventBatch[]> {
  await query(messages.fork(), 'delete from messages_jobs._private_jobs', []);
  await messages.fork().transactional((em) => addEvents(em, 'messages', workspaceId, facts));
  return batches();
}

test('1,200 events make three jobs, each with its own batch id', async () => {
  const told = await tell('w1', events('email.bounced', 1_200));
  expect(told.map((batch) => batch.events.length)).toEqual([500, 500, 200]);
  expect(new Set(told.map(({ batchId }) => batchId)).size).toBe(3);
  expect(told.every((batch) => batch.consumer === 'contacts' && batch.workspaceId === 'w1')).toBe(
    true,
  );
  const numbers = told.flatMap((batch) => batch.events.map(({ data }) => Number(data.number)));
  expect(numbers.toSorted((a, b) => a - b)).toEqual([...Array(1_200).keys()]);
});

test('an event keeps its type, time and data', async () => {
  const [batch] = await tell('w1', events('email.complained', 1));
  expect(batch?.events).toEqual([
    { type: 'email.complained', occurredAt: '2030-01-01T12:00:00.000Z', data: { number: 0 } },
  ]);
});

test('events that nobody asked for make no job, and none ride along', async () => {
  expect(await tell('w1', events('email.opened', 10))).toEqual([]);
  expect(await tell('w1', [])).toEqual([]);
  const mixed = await tell('w1', [...events('email.opened', 10), ...events('email.bounced', 1)]);
  expect(mixed.map((batch) => batch.events.map(({ type }) => type))).toEqual([['email.bounced']]);
});

test('a service without consumers adds no job', async () => {
  await store
    .fork()
    .transactional((em) => addEvents(em, service, 'w1', events('email.bounced', 1)));
  expect(await query(store.fork(), `select 1 from ${service}_jobs.jobs`, [])).toEqual([]);
});
