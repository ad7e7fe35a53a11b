import { addJob } from '#lib/jobs/jobs.ts';
import { query, type Store } from '#lib/postgres/store.ts';
import { leaseMs } from './claims.ts';

export type MessageKey = { workspaceId: string; id: string };

/** A call and the lease it holds are over by then. */
const overAfterMs = 4 * leaseMs;

/** Sees to it that the record of a message by hand gets an end even if this process gets one first. */
export async function ensureEnd(store: Store, payload: MessageKey): Promise<void> {
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

/** Whoever sent it was told, and may send it again: what was put off, or whose sender is gone, is not tried by itself. */
export async function endOne(store: Store, { workspaceId, id }: MessageKey): Promise<void> {
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

/** The provider's words, or why it was skipped. */
export async function readInfo(store: Store, { workspaceId, id }: MessageKey): Promise<string> {
  const [row] = await query<{ status_info: string | null }>(
    store.fork(),
    'select status_info from messages where workspace_id = $1 and id = $2',
    [workspaceId, id],
  );
  return row?.status_info ?? '';
}
