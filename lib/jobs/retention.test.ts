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

/** Milliseconds until the next run. */
async function nextInMs(): Promise<number> {
  const [row] = await query<{ ms: number }>(
    store.fork(),
    `select extract(epoch from run_at - now())::float8 * 1000 as ms from messages_jobs.jobs where key = 'clearTest'`,
    [],
  );
  return row?.ms ?? 0;
}

test('each workspace with rows is cleared, and the next run is in an hour', async () => {
  await givenRows('a', 'b', 'c');
  const cleared: string[] = [];
  await jobOf({ clear: async (workspaceId) => void cleared.push(workspaceId) }).task();
  expect(cleared).toEqual(['a', 'b', 'c']);
  expect(await nextInMs()).toBeGreaterThan(50 * 60_000);
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
  expect(await nextInMs()).toBeLessThan(60_000);
});
