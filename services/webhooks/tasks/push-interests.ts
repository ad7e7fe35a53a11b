import type { Log } from '#lib/log.ts';
import { query } from '#lib/postgres/query.ts';
import type { Context } from '../context.ts';
import { addPush, push, pushWanted } from '../interests/interests.ts';

const retryMs = 5_000;
const pageSize = 500;

/**
 * Tells the producers what one workspace wants, or, without one, what all want: first those that have ever had a subscription, then
 * that the others want nothing. Until a producer is reached it makes every event, so nothing is missed.
 */
export function pushInterests(context: Context, { log }: { log: Pick<Log, 'warn'> }) {
  return async (payload: unknown): Promise<void> => {
    const { workspaceId } = payload as { workspaceId?: string };
    try {
      if (workspaceId !== undefined) await pushOne(context, workspaceId);
      else await pushAll(context);
    } catch (error) {
      log.warn({ err: error, workspaceId }, 'an interest in events was not set; trying again');
      const runAt = new Date(Date.now() + retryMs);
      await addPush(context.store.fork(), workspaceId === undefined ? {} : { workspaceId }, runAt);
    }
  };
}

function pushOne(context: Context, workspaceId: string): Promise<void> {
  return context.store.fork().transactional((em) => pushWanted(context, em, workspaceId));
}

async function pushAll(context: Context): Promise<void> {
  let after = '';
  for (;;) {
    const page = await query<{ id: string }>(
      context.store.fork(),
      `select workspace_id as id from workspace_interests
       where workspace_id > $1 order by workspace_id limit ${pageSize}`,
      [after],
    );
    for (const { id } of page) await pushOne(context, id);
    after = page.at(-1)?.id ?? '';
    if (page.length < pageSize) break;
  }
  await push(context.producers, { types: [] });
}
