import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { StoredStatus } from '../broadcast/row.ts';

export const inDoubtMax = 1_000;

export type InDoubt = {
  workspace_id: string;
  id: string;
  name: string;
  status: StoredStatus;
  recipients: number;
  sent: number;
};

/**
 * Broadcasts that had begun by a moment, or should have, and are not over: after a restore nobody
 * knows who of their recipients has them. Those that start later are not among them.
 */
export function readInDoubt(store: Store, begunBy: Date): Promise<InDoubt[]> {
  return query<InDoubt>(
    store.fork(),
    `select b.workspace_id, b.id, b.name, b.status, b.enqueued_count as recipients, s.sent
     from broadcasts b
     cross join lateral (
       select coalesce(sum(sent), 0)::int as sent from slices
       where workspace_id = b.workspace_id and broadcast_id = b.id
     ) s
     where b.status in ('scheduled', 'testing', 'test_completed', 'winner_selected', 'sending', 'paused')
       and coalesce(b.started_at, b.starts_at) <= $1
     order by b.workspace_id, b.id limit $2`,
    [begunBy, inDoubtMax],
  );
}
