import { setTimeout as sleep } from 'node:timers/promises';
import { createRouterTransport } from '@connectrpc/connect';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { EventConsumerService } from '#gen/postrider/events/v1/events_pb.ts';
import { openMessagesStore } from '../../services/messages/store.ts';
import { testStore } from '../../test/setup/database.ts';
import { until } from '../../test/stack/until.ts';
import { createLog } from '../log.ts';
import { query } from '../postgres/query.ts';
import type { Store } from '../postgres/store.ts';
import { emailDataSql } from '../test/email-events.ts';
import { runEventJobs } from './event-runner.ts';
import { deliverEvents, openOutbox, writeWithEvents } from './outbox.ts';

/** The calls that have come, by workspace, and those that are open. */
const got: string[] = [];
const open = new Map<string, number>();
let openMax = 0;
let callMs = 0;
const contacts = createRouterTransport((router) => {
  router.service(EventConsumerService, {
    async consumeEvents({ workspaceId }) {
      open.set(workspaceId, (open.get(workspaceId) ?? 0) + 1);
      openMax = Math.max(openMax, open.get(workspaceId) ?? 0);
      got.push(workspaceId);
      await sleep(workspaceId === 'quick' ? 0 : callMs);
      open.set(workspaceId, (open.get(workspaceId) ?? 1) - 1);
      return {};
    },
  });
});
const outbox = openOutbox('messages', { contacts });

let store: Store;
let runner: ReturnType<typeof runEventJobs> | undefined;
beforeAll(async () => {
  store = await testStore(openMessagesStore);
});
afterEach(async () => {
  await runner?.stop();
  await query(store.fork(), 'delete from messages_jobs._private_jobs', []);
  got.length = 0;
  openMax = 0;
});
afterAll(() => store.close());

function start(): void {
  const task = deliverEvents('messages', { contacts });
  const log = createLog('test', 'silent');
  runner = runEventJobs({ url: store.url, service: 'messages', task, log });
}

async function tell(workspaceId: string, events = 1): Promise<void> {
  const source = {
    ...{ types: ['email.bounced'], occurredAt: 'now()' },
    ...{ data: emailDataSql('number'), from: 'fact' },
  };
  const steps = `fact as (select number from generate_series(1, ${events}) number)`;
  const change = { steps, events: [source], answer: 'true as told' };
  await writeWithEvents({ em: store.fork(), outbox, workspaceId }, change, []);
}

const waiting = () =>
  query<{ locked: boolean; attempts: number }>(
    store.fork(),
    `select locked_at is not null as locked, attempts from messages_jobs._private_jobs
     where payload->>'batchId' is not null`,
    [],
  );

test('an event of another workspace is delivered amid the thousands of an import, not behind them', async () => {
  callMs = 100;
  await tell('busy', 30_000);
  start();
  await until('the import has begun', async () => got.length > 0, { withinMs: 30_000 });
  await tell('other');
  await until('the other has come', async () => got.includes('other'), { withinMs: 30_000 });
  // Of sixty events, only those claimed before it came first.
  expect(got.indexOf('other')).toBeLessThan(15);
  await until('all are delivered', async () => (await waiting()).length === 0, {
    withinMs: 60_000,
  });
  // Batches are cut by their size as well, which goes with the digits of times.
  expect(got.length).toBeGreaterThanOrEqual(61);
}, 120_000);

test('one workspace has five batches under way at once in a process, and others have places beside it', async () => {
  callMs = 30;
  for (const name of ['busy', 'busier']) await tell(name, 10_000);
  start();
  await until('all are delivered', async () => (await waiting()).length === 0, {
    withinMs: 60_000,
  });
  expect(openMax).toBe(5);
}, 90_000);

test('a workspace whose calls are slow has one at a time and rests while others have events', async () => {
  callMs = 150;
  await tell('busy', 20_000);
  start();
  let endsAtMs = Date.now() + 2_500;
  let toldAtMs = Date.now();
  let began = 0;
  while (Date.now() < endsAtMs) {
    await tell('quick');
    await sleep(50);
    // A machine that stands still makes the quick workspace look idle: measured anew.
    if (Date.now() - toldAtMs > 300) endsAtMs = Date.now() + 2_500;
    toldAtMs = Date.now();
    if (Date.now() < endsAtMs - 1_500) {
      openMax = 0;
      began = got.filter((workspaceId) => workspaceId === 'busy').length;
    }
  }
  expect(openMax).toBe(1);
  const calls = got.filter((workspaceId) => workspaceId === 'busy').length - began;
  // 1.5 s have room for ten calls, one after the other.
  expect(calls).toBeGreaterThan(0);
  expect(calls).toBeLessThan(8);
}, 30_000);

test('a quick event passes the backlogs of eight workspaces whose calls are slow', async () => {
  callMs = 400;
  for (let tenant = 0; tenant < 8; tenant += 1) await tell(`slow ${tenant}`, 10_000);
  start();
  await until('all have begun', async () => new Set(got).size === 8, { withinMs: 30_000 });
  await sleep(500);
  const before = got.length;
  await tell('quick');
  await until('it has come', async () => got.includes('quick'), { withinMs: 20_000 });
  // Only events claimed before it came first.
  expect(got.length - before).toBeLessThanOrEqual(16);
}, 60_000);

test('jobs that are claimed and not begun when the runner stops are given back unchanged', async () => {
  callMs = 300;
  await tell('busy', 10_000);
  start();
  await until('the first have begun', async () => got.length > 0, { withinMs: 30_000 });
  await runner?.stop();
  runner = undefined;
  const left = await waiting();
  expect(left.length).toBe(20 - got.length);
  expect(left.every(({ locked, attempts }) => !locked && attempts === 0)).toBe(true);
});
