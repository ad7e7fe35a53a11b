import type { Store } from '#lib/postgres/store.ts';
import type { Authorize } from '#lib/rpc/server/access.ts';
import type { LastUse } from '../keys/last-use.ts';
import { isUuid } from '../user.ts';
import type { Permissions } from '../workspace.ts';

export type Directory = {
  store: Store;
  now: () => Date;
  /** Addresses that may sign in as root, in lower case. */
  rootEmails: readonly string[];
  lastUse: LastUse;
};

type CallerRow = {
  type: 'user' | 'api_key';
  email: string;
  /** Whether the session, or the token of an API key, is valid. */
  is_live: boolean;
  allowed_addresses: string[];
  role: string | null;
  permissions: Permissions | null;
};

/**
 * The first token of a key from before tokens had ids has an empty one; it is valid until the key
 * is first rotated.
 */
const isLiveKey = `(users.expires_at is null or users.expires_at > $4) and (
       exists (
         select from api_key_tokens tokens
         where tokens.user_id = users.id and tokens.id = $5
           and (tokens.valid_until is null or tokens.valid_until > $4)
       ) or $5 = '' and not exists (select from api_key_tokens tokens where tokens.user_id = users.id)
     )`;

/** Reads the caller and their permissions in a workspace by one statement. */
export function createAuthorize({ store, now, rootEmails, lastUse }: Directory): Authorize {
  return async (userId, sessionId, workspaceId) => {
    const nobody = { active: false, root: false, role: '', permissions: {}, allowedAddresses: [] };
    if (!isUuid(userId)) return nobody;
    const at = now();
    const [row] = await store.read<CallerRow>(
      `select users.type, users.email, users.allowed_addresses, members.role, members.permissions,
              case when users.type = 'user' then sessions.id is not null
                   else ${isLiveKey} end as is_live
       from users
       left join sessions on sessions.id = $2 and sessions.user_id = users.id and sessions.expires_at > $4
       left join members on members.workspace_id = $3 and members.user_id = users.id
       where users.id = $1`,
      [userId, isUuid(sessionId) ? sessionId : null, workspaceId, at, sessionId],
    );
    if (!row?.is_live) return nobody;
    if (row.type === 'api_key') lastUse.note(userId, at);
    return {
      active: true,
      root: row.type === 'user' && rootEmails.includes(row.email),
      role: row.role ?? '',
      permissions: asMessages(row.permissions ?? {}),
      allowedAddresses: row.allowed_addresses,
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
