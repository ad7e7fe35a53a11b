import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { DeterminismViolationError, Worker } from '@temporalio/worker';
import { workflowBundle } from '#lib/workflow-bundle.ts';

/** Histories of real runs, as Temporal's own tools export them. */
const folder = resolve(import.meta.dirname, '../../test/histories');
const names = readdirSync(folder);

const read = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'));

async function replay(history: unknown): Promise<void> {
  const workflowBundleCode = await workflowBundle('broadcasts', '.postrider/cache');
  await Worker.runReplayHistory({ workflowBundle: workflowBundleCode }, history);
}

test.each(names)(
  'the run of %s goes the same way again',
  async (name) => {
    await replay(read(name));
  },
  30_000,
);

test('a history that does not fit the workflow is found', async () => {
  const history = read(names[0] ?? '');
  for (const event of history.events) {
    const { activityType } = event.activityTaskScheduledEventAttributes ?? {};
    if (activityType?.name === 'readPlan') activityType.name = 'finish';
  }
  await expect(replay(history)).rejects.toBeInstanceOf(DeterminismViolationError);
}, 30_000);
