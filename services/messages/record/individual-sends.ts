import { addJob } from '#lib/jobs/jobs.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { leaseMs } from './claims.ts';

export type MessageKey = { workspaceId: string; id: string };

/** By then a call is over, and its lease. */
const overAfterMs = 4 * leaseMs;

/** Adds the job that ends a message's record if this process dies before it does. */
export async function scheduleFinish(store: Store, payload: MessageKey): Promise<void> {
  const runAt = new Date(Date.now() + overAfterMs);
  await addJob(store.fork(), 'messages', { task: 'endByHand', payload, runAt });
}

export async function isSending(store: Store, { workspaceId, id }: MessageKey): Promise<boolean> {
  const rows = await query(
    store.fork(),
    "select 1 from messages where workspace_id = $1 and id = $2 and status = 'sending'",
    [workspaceId, id],
  );
  return rows.length > 0;
}

/**
 * Fails a deferred message, or one whose process died. The caller has the error, so deferred sends
 * aren't retried.
 */
export async function finishSend(store: Store, { workspaceId, id }: MessageKey): Promise<void> {
  await query(
    store.fork(),
    `update messages set status = 'failed', failed_at = now(), updated_at = now(), due_at = null, owner = null,
       lease_until = null, unknown = unknown + (status = 'sending')::int,
       status_info = case status when 'sending' then 'its sender ended' else status_info end
     where workspace_id = $1 and id = $2 and by_hand
       and (status = 'deferred' or (status = 'sending' and lease_until < now()))`,
    [workspaceId, id],
  );
}

/** The server's reply, or why the message was skipped. */
export async function readInfo(store: Store, { workspaceId, id }: MessageKey): Promise<string> {
  const [row] = await query<{ status_info: string | null }>(
    store.fork(),
    'select status_info from messages where workspace_id = $1 and id = $2',
    [workspaceId, id],
  );
  return row?.status_info ?? '';
}
