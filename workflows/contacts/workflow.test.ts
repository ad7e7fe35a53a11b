import { expect, test } from '@jest/globals';
import type { WorkflowHandleWithStartDetails } from '@temporalio/client';
import type { Activities } from '../../services/contacts/activities/all.ts';
import type { Build } from '../../services/contacts/segments/build/build.ts';
import { useWorkflows } from '../../test/setup/temporal.ts';
import type { segmentBuild } from './workflow.ts';

const { play: playIn } = useWorkflows('contacts');

const key = { workspaceId: 'acme', id: 'germans' };
const state: Build = { name: 'Germans | <b>', version: 2, buildId: 'b1', count: 10, contacts: 30 };
type Handle = WorkflowHandleWithStartDetails<typeof segmentBuild>;

function play(
  activities: Partial<Activities>,
  during?: (handle: Handle) => Promise<unknown>,
): Promise<Handle> {
  return playIn<typeof segmentBuild>({ name: 'segmentBuild', args: [key, []], activities }, during);
}

/** A row whose build takes `passes` activities. */
function given(passes: number) {
  const row: { current: Build | null; built: number } = {
    current: passes > 0 ? state : null,
    built: 0,
  };
  const activities: Partial<Activities> = {
    readBuild: async () => row.current,
    build: async () => {
      row.built += 1;
      if (row.built === passes) row.current = null;
      return { hasMore: row.built < passes };
    },
  };
  return { row, activities };
}

test('a run builds until the row has no build, and ends', async () => {
  const { row, activities } = given(3);
  await play(activities);
  expect(row.built).toBe(3);
});

test('a run without a build ends at once', async () => {
  const { row, activities } = given(0);
  await play(activities);
  expect(row.built).toBe(0);
});

test('a build that begins while an activity fails is built by the same run', async () => {
  const { row, activities } = given(2);
  let failures = 0;
  await play({
    ...activities,
    build: async (...args) => {
      failures += 1;
      if (failures < 3) throw new Error('the database is away');
      return activities.build!(...args);
    },
  });
  expect(row.built).toBe(2);
});

test('the current details show the progress, and no text of a tenant breaks the table', async () => {
  const { row, activities } = given(1);
  const { promise: seen, resolve: end } = Promise.withResolvers<void>();
  let details = '';
  await play(
    {
      ...activities,
      build: async () => {
        await seen;
        row.current = null;
        return { hasMore: false };
      },
    },
    async (handle) => {
      while (!details.includes('Segment')) {
        const metadata = await handle
          .query<{ currentDetails: string }>('__temporal_workflow_metadata')
          .catch(() => undefined);
        details = metadata?.currentDetails ?? '';
      }
      end();
    },
  );
  expect(details).toContain('| Name | Germans    b  |');
  expect(details).toContain('| Contacts looked at | 10 of about 30 |');
});

test('a history stays below a thousand events, however long a build takes', async () => {
  const { row, activities } = given(250);
  const handle = await play(activities);
  const { historyLength } = await handle.describe();
  expect(row.built).toBe(250);
  expect(historyLength).toBeLessThan(1_000);
}, 60_000);
