import { addEvents } from '#lib/outbox.ts';
import { type EntityManager, query } from '#lib/store.ts';
import type { ClaimGroup } from './claims.ts';
import type { Context } from './context.ts';
import { suppress } from './suppression.ts';

/** What became of a claimed message, as it goes into the record. */
export type Result = {
  id: string;
  email: string;
  status: 'sent' | 'failed' | 'deferred';
  info: string;
  dueAt: Date | undefined;
  /** Whether nobody knows if it arrived. */
  isUnknown: boolean;
  isBounce: boolean;
};

/** Records results of messages that are still ours, with what follows from them; gives the ids recorded. */
export function recordResults(
  { store, outbox, owner }: Pick<Context, 'store' | 'outbox' | 'owner'>,
  group: ClaimGroup,
  results: readonly Result[],
): Promise<Set<string>> {
  const at = new Date();
  return store.fork().transactional(async (em) => {
    const rows = await updateResults(em, owner, group.workspaceId, results, at);
    const recorded = new Set(rows.map(({ id }) => id));
    const bounced = results.filter(({ id, isBounce }) => isBounce && recorded.has(id));
    if (bounced.length > 0) {
      const { workspaceId, broadcastId, listId } = group;
      await suppress(
        em,
        workspaceId,
        bounced.map(({ email }) => email),
        at,
      );
      const events = bounced.map(({ id, email }) => ({
        type: 'email.bounced',
        occurredAt: at,
        data: { email, message_id: id, broadcast_id: broadcastId, list_id: listId },
      }));
      await addEvents({ em, outbox, workspaceId }, events);
    }
    return recorded;
  });
}

function updateResults(
  em: EntityManager,
  owner: string,
  workspaceId: string,
  results: readonly Result[],
  at: Date,
): Promise<{ id: string }[]> {
  return query(
    em,
    `with given as materialized (
       select $1::text as workspace_id, id, status, info, due_at, is_unknown, is_bounce
       from unnest($4::uuid[], $5::text[], $6::text[], $7::timestamptz[], $8::bool[], $9::bool[])
         as given (id, status, info, due_at, is_unknown, is_bounce)
     )
     update messages m set
       status = given.status,
       status_info = given.info,
       due_at = given.due_at,
       unknown = m.unknown + given.is_unknown::int,
       sent_at = case when given.status = 'sent' then $3::timestamptz end,
       failed_at = case when given.status = 'failed' then $3::timestamptz end,
       bounced_at = case when given.is_bounce then $3::timestamptz end,
       owner = null,
       lease_until = null,
       updated_at = $3::timestamptz
     from given
     where m.workspace_id = given.workspace_id and m.id = given.id and m.owner = $2
     returning m.id`,
    [
      workspaceId,
      owner,
      at,
      results.map(({ id }) => id),
      results.map(({ status }) => status),
      results.map(({ info }) => info),
      results.map(({ dueAt }) => dueAt?.toISOString() ?? null),
      results.map(({ isUnknown }) => isUnknown),
      results.map(({ isBounce }) => isBounce),
    ],
  );
}
