import { TestWorkflowEnvironment } from '@temporalio/testing';
import { temporalProgram } from '../../deploy/local/temporal-programs.ts';

/** A server of Temporal that skips time, for workflow tests. */
export function timeSkippingServer(): Promise<TestWorkflowEnvironment> {
  const server = serverAt(process.env.TEMPORAL_TEST_SERVER ?? '');
  return started(() => TestWorkflowEnvironment.createTimeSkipping({ server }));
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
