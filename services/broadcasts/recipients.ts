import { addJob } from '#lib/jobs.ts';
import { type EntityManager, query } from '#lib/store.ts';
import type { Broadcast, BroadcastKey } from './broadcast.ts';
import type { Context } from './context.ts';

const over: readonly string[] = ['sent', 'cancelled', 'failed'] satisfies Broadcast['status'][];
const chunkSize = 10_000;

/** Has the addresses of a broadcast that is over forgotten: its counts stay, and what was sent is in messages. */
export async function forgetIfOver(em: EntityManager, broadcast: Broadcast): Promise<void> {
  if (!over.includes(broadcast.status)) return;
  const payload: BroadcastKey = { workspaceId: broadcast.workspace_id, id: broadcast.id };
  await addJob(em, 'broadcasts', { task: 'forgetRecipients', payload });
}

/** The task behind `forgetIfOver`; in chunks, so that no statement is long. */
export function forgetRecipients({ store }: Pick<Context, 'store'>) {
  return async (payload: unknown): Promise<void> => {
    const { workspaceId, id } = payload as BroadcastKey;
    const em = store.fork();
    const [range] = await query<{ first: number | null; last: number | null }>(
      em,
      `select min(sequence) as first, max(sequence) as last from recipients
       where workspace_id = $1 and broadcast_id = $2`,
      [workspaceId, id],
    );
    const last = range?.last ?? -1;
    for (let first = range?.first ?? 0; first <= last; first += chunkSize) {
      await query(
        em,
        `delete from recipients
         where workspace_id = $1 and broadcast_id = $2 and sequence between $3 and $4`,
        [workspaceId, id, first, first + chunkSize - 1],
      );
    }
  };
}
