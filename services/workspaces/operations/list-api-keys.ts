import type { Context, Methods } from '../context.ts';
import { keyDays, keysMax } from '../keys/api-key.ts';
import { type APIKeyRow, apiKeyMessage } from '../views/api-key.ts';

export function listAPIKeys({ store, now }: Context): Methods['listAPIKeys'] {
  return async ({ workspaceId }) => {
    const rows = await store.read<APIKeyRow>(
      `select users.id, users.email, members.permissions, users.allowed_addresses, users.created_at,
              coalesce(users.expires_at, users.created_at + interval '${keyDays} days') as expires_at,
              users.last_used_at, tokens.earlier_tokens_until
       from members join users on users.id = members.user_id
       cross join lateral (
         select max(valid_until) as earlier_tokens_until from api_key_tokens
         where user_id = users.id and valid_until > $2
       ) tokens
       where members.workspace_id = $1 and users.type = 'api_key'
       order by users.created_at desc, users.id limit ${keysMax}`,
      [workspaceId, now()],
    );
    return { apiKeys: rows.map(apiKeyMessage) };
  };
}
