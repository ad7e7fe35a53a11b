import { query } from '#lib/postgres/query.ts';
import type { Context, Methods } from '../context.ts';
import { broadcastMessageId, type MessageStatus } from '../message.ts';
import { toBatchOutcomes } from '../views/batch-outcomes.ts';

type OutcomesRow = {
  id: string;
  status: MessageStatus;
  unknown: number;
  status_info: string | null;
  due_at: string | null;
  is_in_flight: boolean;
};

export function getBatchOutcomes({ store }: Context): Methods['getBatchOutcomes'] {
  return async ({ workspaceId, broadcastId, emails }) => {
    const ids = new Set(emails.map((email) => broadcastMessageId(workspaceId, broadcastId, email)));
    const rows = await query<OutcomesRow>(
      store.fork(),
      // Each id is one look into the primary key, also while the table has no statistics.
      `with given as materialized (select $1::text as workspace_id, unnest($2::uuid[]) as id)
       select m.id, m.status, m.unknown, m.status_info, m.due_at,
         m.status = 'sending' and m.lease_until >= now() as is_in_flight
       from given cross join lateral (
         select * from messages where workspace_id = given.workspace_id and id = given.id offset 0
       ) m`,
      [workspaceId, [...ids]],
    );
    const fates = new Map(rows.map((row) => [row.id, fateOf(row)]));
    return {
      outcomes: toBatchOutcomes(ids.size, { fates }),
      inFlight: rows.filter((row) => row.is_in_flight).length,
    };
  };
}

function fateOf({ status, unknown, status_info, due_at }: OutcomesRow) {
  const dueAt = due_at === null ? undefined : new Date(due_at);
  return { status, unknown, info: status_info ?? '', dueAt };
}
