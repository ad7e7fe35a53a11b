import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ScheduleNotFoundError } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { temporalServer } from '../../../test/setup/temporal.ts';
import { removeOldWatch } from './temporal.ts';

let env: TestWorkflowEnvironment;
beforeAll(async () => {
  env = await temporalServer();
}, 60_000);
afterAll(() => env.teardown());

test('the Schedule of older versions is removed at the start, if there is one', async () => {
  const warnings: unknown[] = [];
  const log = { warn: (...said: unknown[]) => warnings.push(said) } as never;
  const watch = await env.client.schedule.create({
    scheduleId: 'broadcast-watch',
    spec: { intervals: [{ every: '1 hour' }] },
    action: {
      type: 'startWorkflow',
      workflowType: 'broadcastWatch',
      taskQueue: 'broadcasts',
      workflowId: 'broadcast-watch',
    },
  });
  await removeOldWatch(env.client, log);
  await expect(watch.describe()).rejects.toBeInstanceOf(ScheduleNotFoundError);
  await removeOldWatch(env.client, log);
  expect(warnings).toEqual([]);
}, 30_000);
