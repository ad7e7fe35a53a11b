import { WorkflowNotFoundError } from '@temporalio/client';
import pg from 'pg';
import type { TestStack } from '../stack.ts';
import { withRun } from './workflows.ts';

const dueNow = [
  `update messages.messages set due_at = now()
   where workspace_id = $1 and broadcast_id = $2 and status = 'deferred'`,
  `update broadcasts.slices set next_due_at = now()
   where workspace_id = $1 and broadcast_id = $2 and next_due_at is not null`,
];

/**
 * Lets hours pass: starts and retries after outages are due, deferred messages too, and a test is
 * decided two hours sooner. The signal replaces the hourly check.
 */
export async function passTime(stack: TestStack, id: string): Promise<void> {
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  try {
    await client.query(
      `update broadcasts.broadcasts
       set starts_at = least(starts_at, now()),
         retry_at = case when retry_at is not null then now() end,
         test_sent_at = test_sent_at - interval '2 hours'
       where workspace_id = $1 and id = $2`,
      [stack.workspaceId, id],
    );
    for (const statement of dueNow) await client.query(statement, [stack.workspaceId, id]);
  } finally {
    await client.end();
  }
  await withRun(stack, id, (handle) => handle.signal('changed')).catch((error: unknown) => {
    // A run that has ended meanwhile needs no signal.
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  });
}
