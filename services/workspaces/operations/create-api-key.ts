import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { refusal } from '#lib/errors/reasons.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { recordChange } from '#lib/rpc/server/audit.ts';
import { differences, shownPermissions } from '../audit/changes.ts';
import type { Context, Methods } from '../context.ts';
import { expiryOf, issueToken, keysMax, networksOf } from '../keys/api-key.ts';
import { permissionsOrAll } from '../members/permissions.ts';
import { Member } from '../workspace.ts';
import { lockWorkspace } from '../workspace-queries.ts';

export function createAPIKey({ store, keyring, now, publicUrl }: Context): Methods['createAPIKey'] {
  return async (request, call) => {
    const permissions = permissionsOrAll(request);
    const email = `${request.emailPrefix}@${new URL(publicUrl).host}`.toLowerCase();
    const at = now();
    const expiresAt = expiryOf(request.expiresAt && timestampDate(request.expiresAt), at);
    const allowed = networksOf(request.allowedAddresses);
    const userId = crypto.randomUUID();
    const token = await store.fork().transactional(async (em) => {
      // Concurrent requests for the same name wait for each other.
      await lockWorkspace(em, request.workspaceId);
      await checkCount(em, request.workspaceId);
      const rows = await query(
        em,
        `insert into users (id, type, email, created_at, updated_at, expires_at, allowed_addresses)
         select $1, 'api_key', $2, $3, $3, $5, $6
         where not exists (
           select from members join users on users.id = members.user_id
           where members.workspace_id = $4 and users.email = $2 and users.type = 'api_key'
         )
         returning 1`,
        [userId, email, at, request.workspaceId, expiresAt, allowed],
      );
      if (rows.length === 0) throw refusal('ALREADY_EXISTS', 'this user already exists');
      em.create(Member, {
        workspace_id: request.workspaceId,
        user_id: userId,
        role: 'member',
        permissions,
        created_at: at,
      });
      await em.flush();
      await recordChange(em, call, {
        targetId: userId,
        ...differences(
          {},
          {
            name: email,
            permissions: shownPermissions(permissions),
            allowed_addresses: allowed,
            expires_at: expiresAt,
          },
        ),
      });
      return issueToken(em, keyring, { userId, expiresAt, now: at });
    });
    return {
      status: 'success',
      token,
      email,
      id: userId,
      expiresAt: timestampFromDate(expiresAt),
    };
  };
}

async function checkCount(em: EntityManager, workspaceId: string): Promise<void> {
  const [{ count } = { count: 0 }] = await query<{ count: number }>(
    em,
    `select count(*)::int from members join users on users.id = members.user_id
     where members.workspace_id = $1 and users.type = 'api_key'`,
    [workspaceId],
  );
  if (count >= keysMax) {
    throw refusal('LIMIT_OF_WORKSPACE', `a workspace has at most ${keysMax} API keys`);
  }
}
