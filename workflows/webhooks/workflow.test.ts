import { expect, test } from '@jest/globals';
import { Context } from '@temporalio/activity';
import type { WorkflowHandleWithStartDetails } from '@temporalio/client';
import type { Activities } from '../../services/webhooks/activities/all.ts';
import type { Retries } from '../../services/webhooks/sending/retries.ts';
import { useWorkflows } from '../../test/setup/temporal.ts';
import type { webhookRetries } from './workflow.ts';

const { opened, play: playIn } = useWorkflows('webhooks');

const key = { workspaceId: 'acme', id: 's1' };
type Handle = WorkflowHandleWithStartDetails<typeof webhookRetries>;

const inAges = Date.UTC(2200, 0);
const state: Retries = {
  name: 'CRM',
  host: 'hooks.example.com',
  enabled: true,
  disabledReason: null,
  pending: 3,
  retries: 2,
  nextDueAt: null,
  probeAt: null,
  lastError: 'HTTP 500',
};

type Row = { current: Retries | null; delivered: number[]; finished: number; operated: string[] };

/** A row that the test changes, and activities that read it. */
function given(over: Partial<Retries> | null = {}, fakes: Partial<Activities> = {}) {
  const row: Row = {
    current: over && { ...state, ...over },
    delivered: [],
    finished: 0,
    operated: [],
  };
  const activities: Partial<Activities> = {
    readRetries: async () => row.current,
    finishRetries: async () => {
      row.finished += 1;
      return true;
    },
    deliver: async () => {
      row.delivered.push(await opened.env.currentTimeMs());
      return { hasMore: false };
    },
    operate: async (_, action) => {
      row.operated.push(action);
      return 'healthy';
    },
    ...fakes,
  };
  return { row, activities };
}

function play(
  activities: Partial<Activities>,
  during?: (handle: Handle) => Promise<unknown>,
): Promise<Handle> {
  return playIn<typeof webhookRetries>(
    { name: 'webhookRetries', args: [key, []], activities },
    during,
  );
}

async function detailsOf(handle: Handle): Promise<string> {
  const metadata = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
  return metadata.currentDetails;
}

test('a run waits until the next retry is due, delivers, and ends when none is left', async () => {
  const dueAt = (await opened.env.currentTimeMs()) + 6 * 3_600_000;
  const { row, activities } = given({ nextDueAt: dueAt });
  await play({
    ...activities,
    deliver: async () => {
      row.delivered.push(await opened.env.currentTimeMs());
      row.current = { ...state, nextDueAt: null };
      return { hasMore: false };
    },
  });
  expect(row.delivered).toHaveLength(1);
  expect(row.delivered[0]).toBeGreaterThanOrEqual(dueAt - 1_000);
  expect(row.finished).toBe(1);
});

test.each([
  ['deleted', null],
  ['disabled', { enabled: false, nextDueAt: 0 }],
  ['without retries', { nextDueAt: null }],
])('the run of a subscription that is %s ends without an attempt', async (_, over) => {
  const { row, activities } = given(over);
  await play(activities);
  expect(row).toMatchObject({ delivered: [], finished: 1 });
});

test('a retry that comes right before the end is not left behind', async () => {
  const { row, activities } = given({ nextDueAt: null });
  await play({
    ...activities,
    finishRetries: async () => {
      row.finished += 1;
      if (row.finished > 1) return true;
      row.current = { ...state, nextDueAt: 1 };
      return false;
    },
    deliver: async () => {
      row.delivered.push(0);
      row.current = { ...state, nextDueAt: null };
      return { hasMore: false };
    },
  });
  expect(row).toMatchObject({ delivered: [0], finished: 2 });
});

test('passes are five seconds apart, unless one ended with more to do', async () => {
  const { row, activities } = given({ nextDueAt: 1 });
  await play({
    ...activities,
    deliver: async () => {
      row.delivered.push(await opened.env.currentTimeMs());
      if (row.delivered.length === 4) row.current = { ...state, nextDueAt: null };
      return { hasMore: row.delivered.length === 1 };
    },
  });
  const gaps = row.delivered.slice(1).map((at, index) => at - (row.delivered[index] ?? 0));
  expect(gaps[0]).toBeLessThan(5_000);
  expect(gaps[1]).toBeGreaterThanOrEqual(4_900);
  expect(gaps[2]).toBeGreaterThanOrEqual(4_900);
});

test('the row is read by the worker itself, and by way of the server where that fails', async () => {
  let reads = 0;
  const { row, activities } = given({ nextDueAt: null });
  const handle = await play({
    ...activities,
    readRetries: async () => {
      reads += 1;
      if (reads === 2) throw new Error('the database is away');
      return row.current;
    },
    finishRetries: async () => {
      row.finished += 1;
      return row.finished === 2;
    },
  });
  const { events } = await handle.fetchHistory();
  const byServer = events?.flatMap(
    ({ activityTaskScheduledEventAttributes: each }) => each?.activityType?.name ?? [],
  );
  expect(byServer).toEqual(['finishRetries', 'readRetries', 'finishRetries']);
  expect(reads).toBe(3);
});

test('a signal has the row read again at once', async () => {
  const { row, activities } = given({ nextDueAt: inAges });
  await play(activities, async (handle) => {
    row.current = null;
    await handle.signal('changed');
  });
  expect(row.delivered).toEqual([]);
});

test.each(['retryNow', 'disable', 'enable'])('the update %s answers the status', async (name) => {
  const { row, activities } = given({ nextDueAt: inAges });
  await play(activities, async (handle) => {
    expect(await handle.executeUpdate(name)).toBe('healthy');
    row.current = null;
    await handle.signal('changed');
  });
  expect(row.operated).toEqual([name]);
});

test('a history stays below a thousand events, however many passes a run makes', async () => {
  const { row, activities } = given({ nextDueAt: 1 });
  const runIds = new Set<string>();
  const handle = await play({
    ...activities,
    deliver: async () => {
      runIds.add(Context.current().info.workflowExecution?.runId ?? '');
      row.delivered.push(0);
      if (row.delivered.length === 150) row.current = null;
      return { hasMore: true };
    },
  });
  const lengths = await Promise.all(
    [...runIds].map(async (runId) => {
      const past = opened.env.client.workflow.getHandle(handle.workflowId, runId);
      return (await past.describe()).historyLength;
    }),
  );
  expect(row.delivered).toHaveLength(150);
  expect(lengths.length).toBeGreaterThan(1);
  expect(Math.max(...lengths)).toBeLessThan(1_000);
}, 60_000);

test('the current details show what waits and why, and no text of a tenant breaks the table', async () => {
  const { row, activities } = given({
    nextDueAt: inAges,
    probeAt: 1,
    name: 'CRM | <b>\n',
  });
  row.current = { ...row.current!, nextDueAt: (await opened.env.currentTimeMs()) + 3_600_000 };
  let details = '';
  await play(activities, async (handle) => {
    while (details === '') details = await detailsOf(handle).catch(() => '');
    row.current = null;
    await handle.signal('changed');
  });
  for (const words of [
    '| Subscription | CRM    b   |',
    '| Endpoint | hooks.example.com |',
    '| Circuit | open |',
    '| Pending | 3 |',
    '| Waiting for a retry | 2 |',
    '| Last error | HTTP 500 |',
  ]) {
    expect(details).toContain(words);
  }
});
