import type { Store } from '#lib/postgres/store.ts';
import type { Authorize } from '#lib/rpc/server/access.ts';
import type { Permissions } from '../workspace.ts';

type Directory = { store: Store; now: () => Date; rootEmails: readonly string[] };

type Row = {
  type: 'user' | 'api_key';
  email: string;
  has_session: boolean;
  role: string | null;
  permissions: Permissions | null;
};

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Reads the caller and their permissions in a workspace by one statement. */
export function createAuthorize({ store, now, rootEmails }: Directory): Authorize {
  return async (userId, sessionId, workspaceId) => {
    const nobody = { active: false, root: false, role: '', permissions: {} };
    if (!uuid.test(userId)) return nobody;
    const [row] = await store.read<Row>(
      `select users.type, users.email, sessions.id is not null as has_session,
              members.role, members.permissions
       from users
       left join sessions on sessions.id = $2 and sessions.user_id = users.id and sessions.expires_at > $4
       left join members on members.workspace_id = $3 and members.user_id = users.id
       where users.id = $1`,
      [userId, uuid.test(sessionId) ? sessionId : null, workspaceId, now()],
    );
    if (!row || (row.type === 'user' && !row.has_session)) return nobody;
    return {
      active: true,
      root: row.type === 'user' && rootEmails.includes(row.email),
      role: row.role ?? '',
      permissions: asMessages(row.permissions ?? {}),
    };
  };
}

function asMessages(permissions: Permissions) {
  return Object.fromEntries(
    Object.entries(permissions).map(([resource, permission]) => [
      resource,
      { $typeName: 'postrider.workspaces.v1.Permission' as const, ...permission },
    ]),
  );
}
