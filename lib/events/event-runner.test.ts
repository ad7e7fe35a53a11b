import { setTimeout as sleep } from 'node:timers/promises';
import { Code, ConnectError, createRouterTransport } from '@connectrpc/connect';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { EventConsumerService } from '#gen/postrider/events/v1/events_pb.ts';
import { openMessagesStore } from '../../services/messages/store.ts';
import { testStore } from '../../test/setup/database.ts';
import { until } from '../../test/stack/until.ts';
import { createLog } from '../log.ts';
import { query } from '../postgres/query.ts';
import type { Store } from '../postgres/store.ts';
import { emailDataSql } from '../test/email-events.ts';
import { givenSilentServer } from '../test/silent-server.ts';
import { runEventJobs } from './event-runner.ts';
import { takerOf } from './handover.ts';
import { deliverEvents, openOutbox, writeWithEvents } from './outbox.ts';

/** The batches that have come, by workspace, and those that are open. */
const got: string[] = [];
const open = new Map<string, number>();
let openMax = 0;
/** How long each call of one batch may take. */
const timeoutsMs: number[] = [];
let callMs = 0;
/** The workspaces of each call that brought several batches, and what it answers for each. */
const groups: string[][] = [];
let outcomeOf = (_: string): { error?: string; tookMs?: number; alone?: boolean } => ({});
/** Thrown in place of an answer for several batches. */
let failure: Error | undefined;
/** Calls wait for it. */
let before: Promise<void> | undefined;
const contacts = createRouterTransport((router) => {
  router.service(EventConsumerService, {
    async consumeEventBatches({ batches }) {
      const workspaceIds = batches.map(({ workspaceId }) => workspaceId);
      groups.push(workspaceIds);
      await before;
      if (failure) throw failure;
      const outcomes = workspaceIds.map((workspaceId) => outcomeOf(workspaceId));
      await sleep(Math.max(...outcomes.map(({ tookMs = 0 }) => tookMs)));
      got.push(...workspaceIds);
      return { outcomes };
    },
    async consumeEvents({ workspaceId }, { timeoutMs }) {
      timeoutsMs.push(timeoutMs() ?? 0);
      open.set(workspaceId, (open.get(workspaceId) ?? 0) + 1);
      openMax = Math.max(openMax, open.get(workspaceId) ?? 0);
      got.push(workspaceId);
      await before;
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
  groups.length = 0;
  openMax = 0;
  callMs = 0;
  outcomeOf = () => ({});
  failure = undefined;
  before = undefined;
});
afterAll(() => store.close());

function start(peer = contacts, log = createLog('test', 'silent'), url = store.url): void {
  const task = deliverEvents('messages', { contacts: peer });
  runner = runEventJobs({ url, service: 'messages', task, log });
}

const changeOf = (steps: string) => {
  const source = {
    ...{ types: ['email.bounced'], occurredAt: 'now()' },
    ...{ data: emailDataSql('number'), from: 'fact' },
  };
  return { steps, events: [source], answer: 'true as told' };
};
const oneEvent = changeOf('fact as (select 1 as number)');

async function tell(workspaceId: string, events = 1): Promise<void> {
  const change = changeOf(`fact as (select number from generate_series(1, ${events}) number)`);
  await writeWithEvents({ em: store.fork(), outbox, workspaceId }, change, []);
}

/** Two batches that are there at the same time. */
const tellTwice = (workspaceId: string) =>
  store.fork().transactional(async (em) => {
    for (let number = 0; number < 2; number += 1) {
      await writeWithEvents({ em, outbox, workspaceId }, oneEvent, []);
    }
  });

const waiting = () =>
  query<{ locked: boolean; attempts: number }>(
    store.fork(),
    `select locked_at is not null as locked, attempts from messages_jobs._private_jobs
     where payload->>'batchId' is not null`,
    [],
  );

const repeatNow = () =>
  query(
    store.fork(),
    `update messages_jobs._private_jobs set run_at = now() where payload->>'batchId' is not null`,
    [],
  );

test('an event of another workspace is delivered amid the thousands of an import, not behind them', async () => {
  callMs = 100;
  const told = Promise.withResolvers<void>();
  before = told.promise;
  await tell('busy', 30_000);
  start();
  await until('the import has begun', async () => got.length > 0, { withinMs: 30_000 });
  await tell('other');
  told.resolve();
  await until('the other has come', async () => got.includes('other'), { withinMs: 30_000 });
  // Of sixty events, only those claimed before it came first.
  expect(got.indexOf('other')).toBeLessThan(15);
  await until('all are delivered', async () => (await waiting()).length === 0, {
    withinMs: 60_000,
  });
  // Batches are cut by their size as well, which goes with the digits of times.
  expect(got.length).toBeGreaterThanOrEqual(61);
}, 120_000);

test('a workspace that is alone has five batches under way at once in a process', async () => {
  const end = Promise.withResolvers<void>();
  before = end.promise;
  await tell('busy', 10_000);
  start();
  await until('five are open', async () => open.get('busy') === 5, { withinMs: 30_000 });
  await sleep(100);
  end.resolve();
  await until('all are delivered', async () => (await waiting()).length === 0, {
    withinMs: 60_000,
  });
  expect(openMax).toBe(5);
}, 90_000);

test('a workspace beside others has one large batch under way at a time from its first on', async () => {
  const end = Promise.withResolvers<void>();
  before = end.promise;
  const names = ['busy', 'busier', 'busiest'];
  for (let batch = 0; batch < 5; batch += 1) for (const name of names) await tell(name, 500);
  start();
  await until('each has one', async () => names.every((name) => open.get(name) === 1));
  await sleep(100);
  expect([openMax, got.length]).toEqual([1, names.length]);
  // Claimed jobs that wait would take the room of others.
  const claimed = (await waiting()).filter(({ locked }) => locked);
  expect(claimed.length).toBeLessThanOrEqual(2 * names.length);
  // Many rows take long.
  expect(Math.min(...timeoutsMs)).toBeGreaterThan(50_000);
  end.resolve();
  await until('all are delivered', async () => (await waiting()).length === 0, {
    withinMs: 60_000,
  });
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
  await tell('quick');
  const before = got.length;
  await until('it has come', async () => got.includes('quick'), { withinMs: 20_000 });
  // Only events claimed before it came first.
  expect(got.indexOf('quick') - before).toBeLessThanOrEqual(16);
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

test('events of many changes and workspaces that wait go to their consumer in one call', async () => {
  for (let number = 0; number < 60; number += 1) await tell(`w${number % 20}`);
  start();
  await until('all have come', async () => got.length === 60);
  expect(groups.map(({ length }) => length)).toEqual([60]);
  await until('all are deleted', async () => (await waiting()).length === 0);
});

test('an event goes at once, and those that come while its call is open go together after it', async () => {
  start();
  const end = Promise.withResolvers<void>();
  before = end.promise;
  await tell('w1');
  await until('it is on its way', async () => open.get('w1') === 1, { withinMs: 900 });
  for (let number = 0; number < 5; number += 1) await tell('w1');
  await sleep(100);
  // Events of one workspace wait for each other, and so are in order.
  expect([got, groups]).toEqual([['w1'], []]);
  end.resolve();
  await until('all have come', async () => got.length === 6);
  expect(groups).toEqual([Array(5).fill('w1')]);
});

test('a call that is slow holds up no event of another workspace', async () => {
  const end = Promise.withResolvers<void>();
  before = end.promise;
  for (let number = 0; number < 2; number += 1) await tell('slow');
  start();
  await until('its call is open', async () => groups.length === 1);
  await tell('quick');
  await until('the other has come', async () => got.includes('quick'));
  expect(got).toEqual(['quick']);
  end.resolve();
  await until('all have come', async () => got.length === 3);
});

test('a batch of a group that its consumer refuses fails alone, and then goes alone', async () => {
  outcomeOf = (workspaceId) => (workspaceId === 'poison' ? { error: '[invalid_argument] no' } : {});
  await tell('poison');
  for (let number = 0; number < 10; number += 1) await tell(`w${number}`);
  start();
  await until('the others are deleted', async () => (await waiting()).length === 1);
  expect(groups.map(({ length }) => length)).toEqual([11]);
  const [left] = await query<{ error: string }>(
    store.fork(),
    `select last_error as error from messages_jobs._private_jobs where payload->>'batchId' is not null`,
    [],
  );
  expect(left?.error).toBe('[invalid_argument] no');
  await repeatNow();
  for (let number = 0; number < 5; number += 1) await tellTwice('w1');
  await until('all are deleted', async () => (await waiting()).length === 0);
  expect(groups.slice(1).flat()).not.toContain('poison');
  expect(got).toContain('poison');
});

test('a workspace whose batches take long has calls of its own, and the others share theirs', async () => {
  outcomeOf = (workspaceId) => ({ tookMs: workspaceId === 'heavy' ? 300 : 1 });
  const round = () =>
    store.fork().transactional(async (em) => {
      for (const workspaceId of ['heavy', 'w1', 'heavy', 'w2']) {
        await writeWithEvents({ em, outbox, workspaceId }, oneEvent, []);
      }
    });
  await round();
  start();
  await until('the first have come', async () => got.length === 4);
  expect(groups.map((names) => names.toSorted())).toEqual([['heavy', 'heavy', 'w1', 'w2']]);
  for (let number = 0; number < 3; number += 1) await round();
  await until('all have come', async () => got.length === 16);
  for (const names of groups.slice(1)) {
    expect(new Set(names.map((name) => name === 'heavy')).size).toBe(1);
  }
});

test('a workspace whose call alone takes long shares none after it', async () => {
  start();
  callMs = 150;
  await tell('heavy');
  await until('it is deleted', async () => (await waiting()).length === 0);
  await store.fork().transactional(async (em) => {
    for (const workspaceId of ['heavy', 'w1', 'heavy', 'w2']) {
      await writeWithEvents({ em, outbox, workspaceId }, oneEvent, []);
    }
  });
  await until('all have come', async () => got.length === 5);
  for (const names of groups) {
    expect(new Set(names.map((name) => name === 'heavy')).size).toBe(1);
  }
});

test('a batch that has to come alone is no failure', async () => {
  outcomeOf = (workspaceId) => (workspaceId === 'heavy' ? { error: 'alone', alone: true } : {});
  const warned: unknown[] = [];
  const log = createLog('test', 'silent');
  log.warn = (...text: unknown[]) => void warned.push(text);
  await tellAllTwice(['heavy', 'w1']);
  start(contacts, log);
  await until('all are deleted', async () => (await waiting()).length === 0);
  expect(groups.map((names) => names.toSorted())).toEqual([['heavy', 'heavy', 'w1', 'w1']]);
  expect(got.filter((workspaceId) => workspaceId === 'heavy')).toHaveLength(4);
  expect(warned).toEqual([]);
});

/** Two batches of each workspace, all there at the same time. */
const tellAllTwice = (workspaceIds: readonly string[]) =>
  store.fork().transactional(async (em) => {
    for (const workspaceId of [...workspaceIds, ...workspaceIds]) {
      await writeWithEvents({ em, outbox, workspaceId }, oneEvent, []);
    }
  });

test('a workspace whose batches take long and fail has calls of its own after them', async () => {
  outcomeOf = (workspaceId) => (workspaceId === 'heavy' ? { error: 'no', tookMs: 300 } : {});
  await tellAllTwice(['heavy', 'w1']);
  start();
  await until('the other is deleted', async () => (await waiting()).length === 2);
  expect(groups.map((names) => names.toSorted())).toEqual([['heavy', 'heavy', 'w1', 'w1']]);
  outcomeOf = () => ({});
  await tellAllTwice(['heavy', 'w1']);
  await until('both have come', async () => groups.length >= 3 || groups[1]?.length === 4);
  expect(groups.slice(1).toSorted()).toEqual([
    ['heavy', 'heavy'],
    ['w1', 'w1'],
  ]);
});

test('workspaces whose call fails as a whole have a call each after it, and then share theirs again', async () => {
  const names = ['w1', 'w2', 'w3'];
  failure = new ConnectError('too long', Code.InvalidArgument);
  await tellAllTwice(names);
  start();
  await until('all have failed', async () =>
    (await waiting()).every(({ locked, attempts }) => !locked && attempts === 1),
  );
  expect(groups).toHaveLength(1);
  failure = undefined;
  await tellAllTwice(names);
  await until('the new ones have come', async () => got.length >= 6);
  expect(groups.slice(1).toSorted()).toEqual(names.map((name) => [name, name]));
  await repeatNow();
  await until('all are deleted', async () => (await waiting()).length === 0);
  await tellAllTwice(names);
  await until('the last have come', async () => got.length === 18);
  expect(groups.at(-1)?.toSorted()).toEqual(['w1', 'w1', 'w2', 'w2', 'w3', 'w3']);
});

test('large batches have a call each', async () => {
  for (let number = 0; number < 3; number += 1) await tell(`w${number}`, 60);
  start();
  await until('all have come', async () => got.length === 3);
  expect(groups).toEqual([]);
});

test('a consumer of version 0.2 gets one batch a call, those of a workspace in their order', async () => {
  const came: string[] = [];
  const older = createRouterTransport((router) => {
    router.rpc(EventConsumerService.method.consumeEvents, ({ workspaceId, events }) => {
      came.push(`${workspaceId} ${JSON.parse(events[0]?.dataJson ?? '').message_id}`);
      return {};
    });
  });
  for (let number = 0; number < 30; number += 1) {
    const change = { ...oneEvent, steps: `fact as (select ${number} as number)` };
    await writeWithEvents({ em: store.fork(), outbox, workspaceId: `w${number % 3}` }, change, []);
  }
  start(older);
  await until('all are deleted', async () => (await waiting()).length === 0);
  for (const workspaceId of ['w0', 'w1', 'w2']) {
    const own = came.filter((name) => name.startsWith(workspaceId));
    const numbers = own.map((name) => Number(name.slice(3)));
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    expect(numbers).toHaveLength(10);
  }
});

test('a small batch is locked for the runner of its process as it is inserted, and then delivered', async () => {
  start();
  // A runner that looks for older jobs takes none so.
  await until('one is inserted so', () =>
    store.fork().transactional(async (em) => {
      await writeWithEvents({ em, outbox, workspaceId: 'w1' }, oneEvent, []);
      const [newest] = await query<{ locked: boolean }>(
        em,
        `select locked_at is not null and attempts = 1 as locked
         from messages_jobs._private_jobs order by id desc limit 1`,
        [],
      );
      return newest?.locked ?? false;
    }),
  );
  await until('all are deleted', async () => (await waiting()).length === 0);
  expect(got.length).toBeGreaterThan(0);
});

test('a change that is undone hands over nothing', async () => {
  start();
  await until('the runner has looked', async () => takerOf('messages', 'w1') !== undefined);
  const undone = store.fork().transactional(async (em) => {
    await writeWithEvents({ em, outbox, workspaceId: 'w1' }, oneEvent, []);
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  await tell('w2');
  await until('the other has come', async () => got.includes('w2'));
  expect(got).toEqual(['w2']);
});

test('nothing is handed over while older jobs may wait', async () => {
  callMs = 300;
  await tell('busy', 10_000);
  start();
  await until('the first have begun', async () => got.length > 0);
  expect(takerOf('messages', 'busy')).toBeUndefined();
});

test('nothing is handed over after a claim that failed, which may have left older jobs', async () => {
  await tell('older');
  const tasks = 'messages_jobs._private_tasks';
  const failed = Promise.withResolvers<void>();
  const log = createLog('test', 'silent');
  log.warn = () => failed.resolve();
  await query(store.fork(), `alter table ${tasks} rename to tasks_away`, []);
  start(contacts, log);
  await failed.promise;
  await query(store.fork(), 'alter table messages_jobs.tasks_away rename to _private_tasks', []);
  await tell('newer');
  await until('both have come', async () => got.length === 2);
  expect(got).toEqual(['older', 'newer']);
});

test('batches that are handed over and not begun when the runner stops are given back unchanged', async () => {
  start();
  const end = Promise.withResolvers<void>();
  before = end.promise;
  await tell('w1');
  await until('it is on its way', async () => open.get('w1') === 1);
  await until('the runner has looked', async () => takerOf('messages', 'w1') !== undefined);
  await tell('w1');
  const stopped = runner?.stop();
  await until('the second is given back', async () =>
    (await waiting()).some(({ locked }) => !locked),
  );
  end.resolve();
  await stopped;
  runner = undefined;
  expect(await waiting()).toEqual([{ locked: false, attempts: 0 }]);
});

test('events are delivered after their database was gone without a word', async () => {
  const server = await givenSilentServer(store.url);
  start(contacts, createLog('test', 'silent'), server.url);
  await tell('w1');
  await until('it has come', async () => got.length === 1);
  server.fallSilent();
  await tell('w2');
  await until('the next one has come', async () => got.includes('w2'));
  await runner?.stop();
  runner = undefined;
  server.close();
}, 90_000);
