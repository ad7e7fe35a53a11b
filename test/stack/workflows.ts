import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import type { TestStack } from '../stack.ts';

/** Acts on the workflow of a broadcast, as an operator does with Temporal's own tools. */
export async function withRun<T>(
  { settings, workspaceId }: TestStack,
  id: string,
  work: (handle: WorkflowHandle, client: Client) => Promise<T>,
): Promise<T> {
  const connection = await Connection.connect({ address: settings.TEMPORAL_ADDRESS ?? '' });
  try {
    const client = new Client({ connection });
    return await work(client.workflow.getHandle(`broadcast/${workspaceId}/${id}`), client);
  } finally {
    await connection.close();
  }
}

/** A stored history with payloads in plain text: as JSON they are base64. */
export function historyText(stack: TestStack, id: string): Promise<string> {
  return withRun(stack, id, async (handle) => {
    const history = await handle.fetchHistory();
    const { memo, searchAttributes } = await handle.describe();
    return JSON.stringify({ history, memo, searchAttributes }, (key, value) =>
      key === 'data' && typeof value === 'string'
        ? Buffer.from(value, 'base64').toString('utf8')
        : value,
    );
  });
}

export function runStatus(stack: TestStack, id: string): Promise<string> {
  return withRun(stack, id, async (handle) => (await handle.describe()).status.name);
}

const endMsMax = 30_000;

/** The final status of a run, which ends a moment after its row. */
export function endStatus(stack: TestStack, id: string): Promise<string> {
  return withRun(stack, id, async (handle) => {
    await Promise.race([
      handle.result().catch(() => {}),
      new Promise((done) => setTimeout(done, endMsMax).unref()),
    ]);
    return (await handle.describe()).status.name;
  });
}
