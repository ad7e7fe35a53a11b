import { deleteOldRows, type Repeat, retentionJob } from '#lib/jobs/retention.ts';
import { pagedSql } from '#lib/postgres/page-indexes.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { Context } from '../context.ts';
import { askWelcomes } from '../delivery/ask-welcomes.ts';
import { satellites } from '../message-queries.ts';
import { keptDays } from '../plans/kept-days.ts';
import { clearRequests } from '../record/confirmations.ts';
import { countMissing } from '../record/recount.ts';
import { clearWelcomes, dropWelcomes, listsThatWait } from '../record/welcomes.ts';

const stepRows = 500;
const dayMs = 24 * 60 * 60 * 1_000;
/** By then a group has its whole rate again, and its day is over. */
const ratesKeptDays = 2;
/** Lists that contacts is asked about at once. */
const listsMax = 1_000;

type ClearingContext = Pick<Context, 'store' | 'now' | 'plans' | 'log' | 'contacts'>;

/**
 * Deletes messages that are older than their workspace keeps them. Counts of broadcasts are kept
 * beside them, and stay. Messages that are still to be sent stay, too, except welcomes of lists
 * that have none any more.
 */
export function clearMessages(context: ClearingContext) {
  const { store, log } = context;
  return retentionJob(
    { store, log },
    {
      ...{ service: 'messages', task: 'clearMessages', what: 'old messages' },
      rows: [
        `messages where ${pagedSql('messages')}`,
        'receiver_rates where true',
        'receiver_pauses where true',
        'welcomes where due_at is not null',
      ],
      stepRows,
      clearCommon: async (repeat) => {
        await repeat((rowsMax) => clearRequests(store, rowsMax));
        await repeat((rowsMax) => clearWelcomes(store, rowsMax));
      },
      clear: async (workspaceId, repeat) => {
        await clearOld(context, workspaceId, repeat);
        await dropLostWelcomes(context, workspaceId, repeat);
      },
    },
  );
}

async function clearOld(
  { store, now, plans }: ClearingContext,
  workspaceId: string,
  repeat: Repeat,
): Promise<void> {
  const over = new Date(now().getTime() - ratesKeptDays * dayMs);
  const rates = { table: 'receiver_rates', time: 'updated_at' };
  await repeat((rowsMax) => deleteOldRows(store, rates, { workspaceId, before: over, rowsMax }));
  const pauses = { table: 'receiver_pauses', time: 'ends_at' };
  await repeat((rowsMax) => deleteOldRows(store, pauses, { workspaceId, before: now(), rowsMax }));
  const days = await keptDays(plans, workspaceId, 'messageRetentionDays');
  // Kept for good.
  if (days === 0) return;
  await countUncounted(store, workspaceId);
  const before = new Date(now().getTime() - days * dayMs);
  await repeat(() => deleteStep(store, workspaceId, before));
}

/** A welcome with a delay of weeks would take room under the quota until it is due. */
async function dropLostWelcomes(
  context: ClearingContext,
  workspaceId: string,
  repeat: Repeat,
): Promise<void> {
  const { store } = context;
  const pageAfter = (after: string) => listsThatWait(store, workspaceId, { after, most: listsMax });
  for (
    let page = await pageAfter('');
    page.length > 0;
    page = page.length < listsMax ? [] : await pageAfter(page.at(-1) ?? '')
  ) {
    const { lists, at } = await askWelcomes(context, workspaceId, page);
    for (const listId of page.filter((id) => !lists.has(id))) {
      await repeat((most) => dropWelcomes(store, { workspaceId, listId }, { at, most }));
    }
  }
}

async function countUncounted(store: Store, workspaceId: string): Promise<void> {
  const uncounted = await query<{ id: string }>(
    store.fork(),
    'select broadcast_id as id from uncounted_broadcasts where workspace_id = $1',
    [workspaceId],
  );
  for (const { id } of uncounted) await countMissing(store, workspaceId, id);
}

/**
 * The workspace is hidden from the planner, so that what belongs to a message is found by its key.
 */
export const deleteSql = `with gone as materialized (
     delete from messages where ctid = any(array(
       select ctid from messages m
       where workspace_id = $1 and created_at < $2 and ${pagedSql('m')} and status not in ('sending', 'deferred')
         and not exists (
           select from uncounted_broadcasts u where u.workspace_id = $1 and u.broadcast_id = m.broadcast_id
         )
       order by created_at limit ${stepRows} for update skip locked
     )) returning id
   ), ${satellites
     .map(
       (table) => `gone_${table} as (
         delete from ${table} t using gone where t.message_id = gone.id and t.workspace_id || '' = $1
       )`,
     )
     .join(', ')}
   select count(*)::int as count from gone`;

async function deleteStep(store: Store, workspaceId: string, before: Date): Promise<number> {
  const [row] = await query<{ count: number }>(store.fork(), deleteSql, [workspaceId, before]);
  return row?.count ?? 0;
}
