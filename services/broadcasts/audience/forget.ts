import { addJob } from '#lib/jobs/jobs.ts';
import { type EntityManager, query } from '#lib/postgres/store.ts';
import type { Broadcast, BroadcastKey } from '../broadcast.ts';
import { isCounted } from '../broadcast-queries.ts';
import { isOver } from '../broadcast-row.ts';
import type { Context } from '../context.ts';

const chunkSize = 500;
const retryMs = 60_000;

/** Has the addresses of a broadcast that is over forgotten: its counts stay, and what was sent is in messages. */
export async function forgetIfOver(em: EntityManager, broadcast: Broadcast): Promise<void> {
  if (!isOver(broadcast.status)) return;
  const payload: BroadcastKey = { workspaceId: broadcast.workspace_id, id: broadcast.id };
  await addJob(em, 'broadcasts', { task: 'forgetRecipients', payload });
}

/**
 * The task behind `forgetIfOver`; in chunks, so that no statement is long. A slice that is not counted yet needs its
 * addresses for that, and loses them a minute later.
 */
export function forgetRecipients({ store }: Pick<Context, 'store'>) {
  return async (payload: unknown): Promise<void> => {
    const { workspaceId, id } = payload as BroadcastKey;
    const em = store.fork();
    const [slices] = await query<{ last: number | null }>(
      em,
      'select max(number) as last from slices where workspace_id = $1 and broadcast_id = $2',
      [workspaceId, id],
    );
    const last = slices?.last ?? -1;
    for (let first = 0; first <= last; first += chunkSize) {
      await query(
        em,
        `update slices set emails = null
         where workspace_id = $1 and broadcast_id = $2 and number between $3 and $4
           and emails is not null and settle_at is null`,
        [workspaceId, id, first, first + chunkSize - 1],
      );
    }
    if (await isCounted(em, { workspaceId, id })) return;
    const runAt = new Date(Date.now() + retryMs);
    await addJob(em, 'broadcasts', {
      task: 'forgetRecipients',
      payload: { workspaceId, id },
      runAt,
    });
  };
}
