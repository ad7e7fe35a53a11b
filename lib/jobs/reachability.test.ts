import { Code, ConnectError, createRouterTransport } from '@connectrpc/connect';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { EventConsumerService } from '#gen/postrider/events/v1/events_pb.ts';
import { openMessagesStore } from '../../services/messages/store.ts';
import { testStore } from '../../test/setup/database.ts';
import { until } from '../../test/stack/until.ts';
import { runEventJobs } from '../events/event-runner.ts';
import { deliverEvents, openOutbox, writeWithEvents } from '../events/outbox.ts';
import { createLog } from '../log.ts';
import { query } from '../postgres/query.ts';
import type { Store } from '../postgres/store.ts';
import { emailDataSql } from '../test/email-events.ts';
import { runJobs } from './jobs.ts';

const got: string[] = [];
let calls = 0;
let refusal: (workspaceId: string) => ConnectError | undefined = () => undefined;
const contacts = createRouterTransport((router) => {
  router.service(EventConsumerService, {
    consumeEvents({ workspaceId }) {
      calls += 1;
      const error = refusal(workspaceId);
      if (error) throw error;
      got.push(workspaceId);
      return {};
    },
  });
});
const outbox = openOutbox('messages', { contacts });

let store: Store;
let runners: { stop(): Promise<void> }[] = [];
beforeAll(async () => {
  store = await testStore(openMessagesStore);
});
afterEach(async () => {
  await Promise.all(runners.map((runner) => runner.stop()));
  runners = [];
  await query(store.fork(), 'delete from messages_jobs._private_jobs', []);
  got.length = 0;
  calls = 0;
  refusal = () => undefined;
});
afterAll(() => store.close());

function start(): void {
  const log = createLog('test', 'silent');
  const options = { url: store.url, service: 'messages', log };
  const task = deliverEvents('messages', { contacts });
  runners = [runJobs({ ...options, tasks: {} }), runEventJobs({ ...options, task })];
}

async function tell(workspaceId: string): Promise<void> {
  const events = [
    { types: ['email.bounced'], occurredAt: 'now()', data: emailDataSql(`'m'`), from: 'fact' },
  ];
  const change = { steps: 'fact as (select 1)', events, answer: 'true as told' };
  await writeWithEvents({ em: store.fork(), outbox, workspaceId }, change, []);
}

type Waiting = { workspace: string; attempts: number; inSeconds: number; error: string };

const waiting = () =>
  query<Waiting>(
    store.fork(),
    `select payload->>'workspaceId' as workspace, attempts, last_error as error,
       extract(epoch from run_at - now())::float8 as "inSeconds"
     from messages_jobs._private_jobs where payload->>'batchId' is not null`,
    [],
  );

const away = () => new ConnectError('gone', Code.Unavailable);

test('events that wait for a consumer come within seconds after it answers, however long it was away', async () => {
  refusal = away;
  start();
  for (let number = 0; number < 40; number += 1) await tell(`w${number}`);
  await until('all have failed', async () =>
    (await waiting()).every(({ attempts, error }) => attempts > 0 && error !== null),
  );
  // As after hours: the library's backoff grows to six hours.
  await query(
    store.fork(),
    `update messages_jobs._private_jobs set run_at = now() + interval '4 hours', attempts = 20
     where payload->>'batchId' is not null`,
    [],
  );
  const answersAtMs = Date.now();
  refusal = () => undefined;
  await until('all have come', async () => got.length === 40, { withinMs: 15_000 });
  expect(Date.now() - answersAtMs).toBeLessThan(12_000);
}, 40_000);

test('while a consumer is away one call every few seconds tries it, not each of the jobs', async () => {
  refusal = away;
  start();
  await tell('w0');
  await until('it has failed', async () => (await waiting())[0]?.error != null);
  for (let number = 1; number < 100; number += 1) await tell(`w${number}`);
  await until('all have failed', async () =>
    (await waiting()).every(({ error }) => error !== null),
  );
  expect(calls).toBeLessThan(20);
}, 40_000);

test('a batch that its consumer refuses holds up no other, and is tried again later', async () => {
  refusal = (workspaceId) =>
    workspaceId === 'poison' ? new ConnectError('no', Code.InvalidArgument) : undefined;
  await tell('poison');
  for (let number = 0; number < 20; number += 1) await tell(`w${number}`);
  start();
  await until('the others have come', async () => got.length === 20, { withinMs: 15_000 });
  // What is delivered is deleted in groups.
  await until('the others are deleted', async () => (await waiting()).length === 1);
  const [left, ...others] = await waiting();
  expect(others).toEqual([]);
  expect(left).toMatchObject({ workspace: 'poison', error: '[invalid_argument] no' });
  expect(calls).toBeLessThan(20 + 6);
});

test.each([
  ['deadline', () => new ConnectError('late', Code.DeadlineExceeded)],
  ['refusal', () => new ConnectError('no', Code.InvalidArgument)],
])(
  'a batch that always fails by a %s is tried every five minutes and never given up',
  async (_, error) => {
    refusal = error;
    await tell('poison');
    await query(
      store.fork(),
      `update messages_jobs._private_jobs set attempts = 23, last_error = null
     where payload->>'batchId' is not null`,
      [],
    );
    start();
    await until('it has failed', async () => (await waiting())[0]?.error != null);
    const [left] = await waiting();
    expect(left?.inSeconds).toBeLessThan(300);
    const [job] = await query<{ is_available: boolean }>(
      store.fork(),
      `select is_available from messages_jobs._private_jobs where payload->>'batchId' is not null`,
      [],
    );
    expect(job?.is_available).toBe(true);
    if (left?.error.startsWith('[invalid')) expect(left.inSeconds).toBeGreaterThan(230);
  },
);
