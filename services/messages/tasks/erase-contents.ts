import { retentionJob } from '#lib/jobs/retention.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { Context } from '../context.ts';
import { keptDays } from '../plans/kept-days.ts';

/** Contents have up to 1 MiB each. */
const stepRows = 500;
const dayMs = 24 * 60 * 60 * 1_000;

type ErasingContext = Pick<Context, 'store' | 'now' | 'plans' | 'log'>;

/** Deletes contents that are older than their workspace keeps them; all where it keeps none. */
export function eraseContents({ store, log, now, plans }: ErasingContext) {
  return retentionJob(
    { store, log },
    {
      ...{ service: 'messages', task: 'eraseContents', what: 'old contents of mails' },
      ...{ rows: ['message_contents where true'], stepRows },
      clear: async (workspaceId, repeat) => {
        const days = await keptDays(plans, workspaceId, 'messageContentDays');
        const before = new Date(now().getTime() - days * dayMs);
        await repeat(() => eraseStep(store, workspaceId, before));
      },
    },
  );
}

async function eraseStep(store: Store, workspaceId: string, before: Date): Promise<number> {
  const [row] = await query<{ count: number }>(
    store.fork(),
    `with gone as (
       delete from message_contents where workspace_id = $1 and message_id in (
         select message_id from message_contents where workspace_id = $1 and stored_at < $2
         order by stored_at limit ${stepRows}
       ) returning 1
     )
     select count(*)::int as count from gone`,
    [workspaceId, before],
  );
  return row?.count ?? 0;
}
