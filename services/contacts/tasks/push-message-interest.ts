import type { Log } from '#lib/log.ts';
import type { Context } from '../context.ts';
import { addPush, pushWanted } from '../segments/interests.ts';

const retryMs = 5_000;

/** Tells messages which of its events the segments of a workspace read. Until it is reached it makes an event too many. */
export function pushMessageInterest(context: Context, { log }: { log: Pick<Log, 'warn'> }) {
  return async (payload: unknown): Promise<void> => {
    const { workspaceId } = payload as { workspaceId: string };
    const { store, messageEvents } = context;
    try {
      await store.fork().transactional((em) => pushWanted(messageEvents, { em, workspaceId }));
    } catch (error) {
      log.warn({ err: error, workspaceId }, 'an interest in events was not set; trying again');
      await addPush(store.fork(), workspaceId, new Date(Date.now() + retryMs));
    }
  };
}
