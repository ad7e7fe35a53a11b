import type { HandlerContext } from '@connectrpc/connect';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { type AuditEntry, auditEntryOf, everyWorkspace } from '#lib/rpc/server/audit.ts';
import { isUuid } from '../user.ts';

const workspacesMax = 1_000;

/**
 * Writes entries in the transaction of their changes. Entries that are known already stay. Entries
 * of a deleted workspace are dropped, also when they come after another one has taken its id.
 */
export async function writeEntries(
  em: EntityManager,
  entries: readonly AuditEntry[],
): Promise<void> {
  const isOfAll = (entry: AuditEntry) => entry.workspaceId === everyWorkspace;
  const [own, ofAll] = [entries.filter((entry) => !isOfAll(entry)), entries.filter(isOfAll)];
  if (own.length > 0) await query(em, ownSql, [JSON.stringify(own.map(rowOf))]);
  if (ofAll.length > 0) await query(em, ofAllSql, [JSON.stringify(ofAll.map(rowOf))]);
}

const ownSql = insertSql({
  workspaces: 'workspaces.id = given.workspace_id and workspaces.deleted_at is null',
  actorName: `coalesce(users.email, '')`,
  clientAddress: 'client_address',
});

/** The operator's address is nothing for tenants. */
const ofAllSql = insertSql({
  workspaces: 'workspaces.deleted_at is null',
  actorName: `''`,
  clientAddress: `''`,
});

function insertSql(parts: { workspaces: string; actorName: string; clientAddress: string }) {
  return `
    insert into audit_entries (workspace_id, id, created_at, actor_type, actor_id, actor_name, action, target_id,
      client_address, request_id, before, after)
    select workspaces.id, given.id, given.at, actor_type, actor_id, ${parts.actorName}, action, target_id,
      ${parts.clientAddress}, request_id, before, after
    from jsonb_to_recordset($1::jsonb) as given (
      workspace_id text, id uuid, at timestamptz, actor_type text, actor_id text, actor_uuid uuid, action text,
      target_id text, client_address text, request_id text, before jsonb, after jsonb
    )
    join workspaces on ${parts.workspaces}
    left join users on users.id = given.actor_uuid
    where not exists (
      select from deletions where deletions.id = workspaces.id and deletions.deleted_at >= given.at
    )
    for key share of workspaces
    on conflict (workspace_id, id) do nothing`;
}

/**
 * Writes what a person did with a session of their own into the log of each workspace that it
 * opens.
 */
export async function writeForMember(
  em: EntityManager,
  call: Pick<HandlerContext, 'values'>,
  userId: string,
): Promise<void> {
  const entry = auditEntryOf(call);
  if (!entry) return;
  const members = await query<{ workspace_id: string }>(
    em,
    `select workspace_id from members where user_id = $1 order by workspace_id limit ${workspacesMax}`,
    [userId],
  );
  const entries = members.map(({ workspace_id }) => ({
    ...entry,
    actorId: userId,
    workspaceId: workspace_id,
    id: crypto.randomUUID(),
  }));
  if (entries.length > 0) await writeEntries(em, entries);
}

function rowOf(entry: AuditEntry) {
  return {
    workspace_id: entry.workspaceId,
    id: entry.id,
    at: entry.at,
    actor_type: entry.actorType,
    actor_id: entry.actorId,
    actor_uuid: isUuid(entry.actorId) ? entry.actorId : null,
    action: entry.action,
    target_id: entry.targetId,
    client_address: entry.clientAddress,
    request_id: entry.requestId,
    before: entry.before,
    after: entry.after,
  };
}
