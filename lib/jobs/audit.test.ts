import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { AuditService } from '#gen/postrider/workspaces/v1/audit_pb.ts';
import { testTransport } from '../../test/setup/service.ts';
import { until } from '../../test/stack/until.ts';
import { createLog } from '../log.ts';
import { query } from '../postgres/query.ts';
import type { Store } from '../postgres/store.ts';
import { givenStore, service } from '../test/given.ts';
import { noticesOf } from '../test/notices.ts';
import { auditByJob, auditTasks, othersSql } from './audit.ts';
import { type JobRunner, runJobs } from './jobs.ts';

/** The targets of each call. */
let calls: string[][] = [];
let refusal: (targets: string[]) => ConnectError | undefined = () => undefined;
const workspaces = testTransport((router) => {
  router.service(AuditService, {
    recordAuditEntries({ entries }) {
      const targets = entries.map(({ entry }) => entry?.targetId ?? '');
      calls.push(targets);
      const error = refusal(targets);
      if (error) throw error;
      return {};
    },
  });
});

let store: Store;
let runner: JobRunner | undefined;
beforeAll(async () => {
  store = await givenStore();
});
afterEach(async () => {
  await runner?.stop();
  runner = undefined;
  calls = [];
  refusal = () => undefined;
  await query(store.fork(), 'delete from shelf_jobs._private_jobs', []);
});
afterAll(() => store.close());

async function record(...targets: string[]): Promise<void> {
  const entries = targets.map((targetId) => ({
    ...{ id: crypto.randomUUID(), workspaceId: 'w1', at: new Date(), targetId },
    ...{ actorType: 'api_key', actorId: 'k1', action: 'lists.create' },
    ...{ clientAddress: '', requestId: 'r1' },
  }));
  await auditByJob(service)(store.fork(), entries);
}

function start(): void {
  const log = createLog('test', 'silent');
  const tasks = auditTasks(service, workspaces());
  runner = runJobs({ url: store.url, service, tasks, log });
}

async function jobsLeft(): Promise<number> {
  const [row] = await query<{ count: number }>(
    store.fork(),
    `select count(*)::int as count from shelf_jobs.jobs where task_identifier = 'forwardAuditEntries'`,
    [],
  );
  return row?.count ?? 0;
}

const untilSent = () => until('no job is left', async () => (await jobsLeft()) === 0);

test('entries of many changes are sent by a few calls, each of them once', async () => {
  const targets = Array.from({ length: 60 }, (_, at) => `t${at}`);
  for (const target of targets) await record(target);
  start();
  await untilSent();
  expect(calls.flat().toSorted()).toEqual(targets.toSorted());
  expect(calls.length).toBeLessThan(30);
});

test('an entry that workspaces refuses stops none that waits with it', async () => {
  refusal = (targets) =>
    targets.includes('bad') ? new ConnectError('bad', Code.InvalidArgument) : undefined;
  const good = Array.from({ length: 30 }, (_, at) => `g${at}`);
  await record('bad');
  for (const target of good) await record(target);
  start();
  await until('the good ones are taken', async () => (await jobsLeft()) === 1);
  const taken = calls.filter((targets) => !targets.includes('bad')).flat();
  expect(taken.toSorted()).toEqual(good.toSorted());
});

test('a call with the entries of others that gets no answer gives them back', async () => {
  let isAway = true;
  refusal = () => (isAway ? new ConnectError('away', Code.Unavailable) : undefined);
  for (let at = 0; at < 20; at += 1) await record(`a${at}`);
  start();
  await until('a call is made', async () => calls.length > 0);
  isAway = false;
  await untilSent();
}, 60_000);

test('a transaction of many changes has one job, and large ones go alone', async () => {
  const many = Array.from({ length: 200 }, (_, at) => `m${at}`);
  await record(...many);
  await record(...many);
  expect(await jobsLeft()).toBe(2);
  start();
  await untilSent();
  expect(calls.map((targets) => targets.length)).toEqual([200, 200]);
});

test('a job with entries wakes no runner by a notice', async () => {
  const { url } = store;
  const heard = await noticesOf({ url, jobs: 'shelf_jobs' }, () => record('quiet'));
  expect(heard).toEqual(['last']);
});

test('a job that belongs to a trace is sent like any other', async () => {
  await record('traced');
  await query(
    store.fork(),
    `update shelf_jobs._private_jobs set payload = (payload::jsonb || '{"traceparent": "00-1-2-01"}')::json`,
    [],
  );
  start();
  await untilSent();
  expect(calls).toEqual([['traced']]);
});

test('an entry that cannot be read delays none that waits with it', async () => {
  const good = Array.from({ length: 30 }, (_, at) => `r${at}`);
  for (const target of good) await record(target);
  await query(
    store.fork(),
    `update shelf_jobs._private_jobs set payload = '{"entries": [{"workspaceId": 5}]}'
     where id = (select min(id) + 20 from shelf_jobs._private_jobs)`,
    [],
  );
  start();
  await until('the others are taken', async () => (await jobsLeft()) === 1);
  expect(new Set(calls.flat()).size).toBe(29);
});

test('entries that waited until workspaces answers again go together', async () => {
  for (let at = 0; at < 60; at += 1) await record(`w${at}`);
  await query(
    store.fork(),
    `update shelf_jobs._private_jobs set attempts = 3, last_error = 'workspaces does not answer: away'`,
    [],
  );
  start();
  await untilSent();
  expect(calls.length).toBeLessThan(30);
});

test('a job reads no more of very many that wait than it takes along', async () => {
  await record('first');
  await query(
    store.fork(),
    `insert into shelf_jobs._private_jobs (flags, task_id, max_attempts, payload)
     select flags, task_id, max_attempts, payload from shelf_jobs._private_jobs, generate_series(1, 20000)`,
    [],
  );
  await query(store.fork(), 'analyze shelf_jobs._private_jobs', []);
  const plan = await query<{ 'QUERY PLAN': string }>(
    store.fork(),
    `explain ${othersSql(service)}`,
    [],
  );
  const text = plan.map((row) => row['QUERY PLAN']).join('\n');
  expect(text).toContain('Index Scan using jobs_main_index');
  expect(text).not.toContain('Sort');
});
