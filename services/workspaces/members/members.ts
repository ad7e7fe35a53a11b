import type { ConnectError, HandlerContext } from '@connectrpc/connect';
import { refusal } from '#lib/errors/reasons.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { callerOf, notAnOwner } from '#lib/rpc/server/access.ts';
import { isUuid } from '../user.ts';
import type { Permissions } from '../workspace.ts';
import { lockWorkspace } from '../workspace-queries.ts';

export type MemberRow = {
  role: 'owner' | 'member';
  permissions: Permissions;
  type: 'user' | 'api_key';
  email: string;
};

export function memberNotFound(): ConnectError {
  return refusal('MEMBER_NOT_FOUND', 'Member not found');
}

/**
 * Changes of members take turns, and each checks again that its caller is still an owner: the check
 * before the operation may be a second old.
 */
export async function lockAsOwner(
  em: EntityManager,
  call: Pick<HandlerContext, 'values'>,
  workspaceId: string,
) {
  const workspace = await lockWorkspace(em, workspaceId);
  const caller = callerOf(call);
  const { type, subject } = caller;
  const member = type === 'service' ? undefined : await readMember(em, workspaceId, subject);
  if (member?.role !== 'owner') throw notAnOwner(caller);
  return workspace;
}

export async function findMember(
  em: EntityManager,
  workspaceId: string,
  userId: string,
): Promise<MemberRow> {
  const row = isUuid(userId) ? await readMember(em, workspaceId, userId) : undefined;
  if (!row) throw memberNotFound();
  return row;
}

async function readMember(
  em: EntityManager,
  workspaceId: string,
  userId: string,
): Promise<MemberRow | undefined> {
  const [row] = await query<MemberRow>(
    em,
    `select members.role, members.permissions, users.type, users.email
     from members join users on users.id = members.user_id
     where members.workspace_id = $1 and members.user_id = $2`,
    [workspaceId, userId],
  );
  return row;
}

export async function changeMember(
  em: EntityManager,
  { workspaceId, userId }: { workspaceId: string; userId: string },
  { role, permissions }: { role: MemberRow['role']; permissions: Permissions },
): Promise<void> {
  await query(
    em,
    'update members set role = $3, permissions = $4 where workspace_id = $1 and user_id = $2',
    [workspaceId, userId, role, JSON.stringify(permissions)],
  );
}
