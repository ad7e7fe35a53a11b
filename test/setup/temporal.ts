import { afterAll, beforeAll } from '@jest/globals';
import { Context } from '@temporalio/activity';
import type { WorkflowHandleWithStartDetails } from '@temporalio/client';
import type { Workflow } from '@temporalio/common';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { workflowBundle } from '#lib/temporal/workflow-bundle.ts';
import { temporalProgram } from '../../deploy/local/temporal-programs.ts';

/** A server of Temporal that skips time, for workflow tests. */
export function timeSkippingServer(): Promise<TestWorkflowEnvironment> {
  const server = serverAt(process.env.TEMPORAL_TEST_SERVER ?? '');
  return started(() => TestWorkflowEnvironment.createTimeSkipping({ server }));
}

type Activity = (...args: never[]) => Promise<unknown>;
/** A run's activities, and those that are under way. */
type Run = { activities: object; underway: Set<Promise<unknown>> };

/**
 * A server that skips time and a worker of one folder of workflows, for all tests of a file: a
 * worker loads the SDK into a thread of its own. Each run has activities of its own.
 */
export function useWorkflows(room: string) {
  const opened = {} as { env: TestWorkflowEnvironment; worker: Worker; running: Promise<void> };
  const runs = new Map<string, Run>();
  beforeAll(async () => {
    opened.env = await timeSkippingServer();
    opened.worker = await Worker.create({
      connection: opened.env.nativeConnection,
      taskQueue: room,
      workflowBundle: await workflowBundle(room, '.postrider/cache'),
      activities: { default: ofRun(runs) },
    });
    opened.running = opened.worker.run();
  }, 60_000);
  afterAll(async () => {
    opened.worker.shutdown();
    await opened.running;
    await opened.env.teardown();
  });
  /** Runs a workflow until it and its activities have ended. */
  async function play<Played extends Workflow>(
    { name, args, activities }: { name: string; args: Parameters<Played>; activities: object },
    during?: (handle: WorkflowHandleWithStartDetails<Played>) => Promise<unknown>,
  ) {
    const workflowId = `${room}/${runs.size + 1}`;
    const run: Run = { activities, underway: new Set() };
    runs.set(workflowId, run);
    const { workflow } = opened.env.client;
    const handle: WorkflowHandleWithStartDetails<Played> = await workflow.start<Workflow>(name, {
      workflowId,
      taskQueue: room,
      args,
    });
    await during?.(handle);
    await handle.result();
    await Promise.allSettled(run.underway);
    return handle;
  }
  return { opened, play };
}

/** Does what the run that asks has for this activity. */
function ofRun(runs: Map<string, Run>): Activity {
  return async (...args) => {
    const { activityType, workflowExecution } = Context.current().info;
    const run = runs.get(workflowExecution?.workflowId ?? '');
    const activity: Activity | undefined = run && Reflect.get(run.activities, activityType);
    if (!run || !activity) throw new Error(`the test has no activity ${activityType}`);
    const result = activity(...args);
    run.underway.add(result);
    return result.finally(() => run.underway.delete(result));
  };
}

/** A whole server of Temporal, in memory. */
export async function temporalServer(extraArgs: string[] = []): Promise<TestWorkflowEnvironment> {
  const server = { ...serverAt(await temporalProgram(() => {})), extraArgs };
  return started(() => TestWorkflowEnvironment.createLocal({ server }));
}

function serverAt(path: string) {
  return { executable: { type: 'existing-path' as const, path } };
}

/** The SDK waits for a server for five seconds, which a busy machine may need for other work. */
async function started(
  start: () => Promise<TestWorkflowEnvironment>,
  attempts = 8,
): Promise<TestWorkflowEnvironment> {
  try {
    return await start();
  } catch (error) {
    if (attempts === 1 || !String(error).includes('did not start within')) throw error;
    return started(start, attempts - 1);
  }
}
