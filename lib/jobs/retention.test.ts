import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { openMessagesStore } from '../../services/messages/store.ts';
import { testStore } from '../../test/setup/database.ts';
import { query } from '../postgres/query.ts';
import type { Store } from '../postgres/store.ts';
import { type Retention, retentionJob } from './retention.ts';

let store: Store;
const said: unknown[] = [];
const log = { warn: (fields: unknown) => void said.push(fields) } as never;

beforeAll(async () => {
  store = await testStore(openMessagesStore);
});
afterAll(() => store.close());
beforeEach(async () => {
  said.length = 0;
  await query(store.fork(), 'delete from suppressions', []);
});

async function givenRows(...workspaceIds: string[]): Promise<void> {
  await query(
    store.fork(),
    `insert into suppressions (workspace_id, email, reason, created_at)
     select unnest($1::text[]), 'a@example.com', 'bounced', now()`,
    [workspaceIds],
  );
}

const jobOf = (over: Pick<Retention, 'clear'> & Partial<Retention>) =>
  retentionJob(
    { store, log },
    {
      ...{ service: 'messages', task: 'clearTest', what: 'old rows' },
      ...{ rows: ['suppressions where true'], stepRows: 10, ...over },
    },
  );

async function nextRun(): Promise<{ inMs: number; payload: object }> {
  const [row] = await query<{ inMs: number; payload: object }>(
    store.fork(),
    `select extract(epoch from run_at - now())::float8 * 1000 as "inMs", payload from messages_jobs._private_jobs
     where key = 'clearTest'`,
    [],
  );
  return row!;
}

test('each workspace with rows is cleared, and the next run is in an hour', async () => {
  await givenRows('a', 'b', 'c');
  const cleared: string[] = [];
  await jobOf({ clear: async (workspaceId) => void cleared.push(workspaceId) }).task();
  expect(cleared).toEqual(['a', 'b', 'c']);
  expect((await nextRun()).inMs).toBeGreaterThan(50 * 60_000);
});

test('a workspace that cannot be cleared keeps no other from it', async () => {
  await givenRows('a', 'b');
  const cleared: string[] = [];
  const clear = async (workspaceId: string) => {
    if (workspaceId === 'a') throw new Error('its settings cannot be read');
    cleared.push(workspaceId);
  };
  await jobOf({ clear }).task();
  expect(cleared).toEqual(['b']);
  expect(said).toMatchObject([{ workspaceId: 'a' }]);
});

test('a workspace with more than a run can delete leaves time to the others, and the next run comes soon', async () => {
  await givenRows('a', 'b');
  let nowMs = Date.now();
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => nowMs);
  const steps: Record<string, number> = { a: 0, b: 0 };
  try {
    const job = jobOf({
      clear: (workspaceId, repeat) =>
        repeat(async (rowsMax) => {
          steps[workspaceId] = (steps[workspaceId] ?? 0) + 1;
          nowMs += 500;
          // The rows of one have no end.
          return workspaceId === 'a' ? rowsMax : 0;
        }),
    });
    await job.task();
  } finally {
    clock.mockRestore();
  }
  expect(steps.b).toBe(1);
  expect((await nextRun()).inMs).toBeLessThan(60_000);
});

test('a run goes on where the last one ended, so that it comes to each workspace', async () => {
  const ids = Array.from({ length: 100 }, (_, number) => `w${number + 100}`);
  await givenRows(...ids);
  let nowMs = Date.now();
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => nowMs);
  const cleared: string[] = [];
  const pauses: number[] = [];
  try {
    const job = jobOf({
      clear: async (workspaceId) => {
        cleared.push(workspaceId);
        nowMs += 1_000;
      },
    });
    let payload = {};
    while (pauses.length < 3) {
      await job.task(payload);
      const next = await nextRun();
      payload = next.payload;
      pauses.push(next.inMs);
    }
  } finally {
    clock.mockRestore();
  }
  expect(cleared).toEqual(ids);
  expect(pauses.map((ms) => ms > 50 * 60_000)).toEqual([false, false, true]);
});

test('rows of no workspace leave time to those of workspaces', async () => {
  await givenRows('a');
  let nowMs = Date.now();
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => nowMs);
  const cleared: string[] = [];
  try {
    const clearCommon: Retention['clearCommon'] = (repeat) =>
      repeat(async (rowsMax) => {
        nowMs += 500;
        return rowsMax;
      });
    await jobOf({ clearCommon, clear: async (id) => void cleared.push(id) }).task();
  } finally {
    clock.mockRestore();
  }
  expect(cleared).toEqual(['a']);
});

test('a process that starts leaves the place of a run as it is', async () => {
  const job = jobOf({ clear: async () => {} });
  await job.task();
  const before = await nextRun();
  await job.start(store.fork());
  expect((await nextRun()).inMs).toBeGreaterThan(before.inMs - 60_000);
});
