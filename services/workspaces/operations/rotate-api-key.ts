import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { refusal } from '#lib/errors/reasons.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { recordChange } from '#lib/rpc/server/audit.ts';
import type { Context, Methods } from '../context.ts';
import { issueToken, keyDays, keyNotFound } from '../keys/api-key.ts';
import { isUuid } from '../user.ts';

const overlapDefaultHours = 24;
const hourMs = 60 * 60_000;
const tokensMax = 5;

export function rotateAPIKey({ store, keyring, now }: Context): Methods['rotateAPIKey'] {
  return async ({ workspaceId, id, overlapHours = overlapDefaultHours }, call) => {
    if (!isUuid(id)) throw keyNotFound();
    const at = now();
    return store.fork().transactional(async (em) => {
      const expiresAt = await lockKey(em, workspaceId, id);
      if (expiresAt <= at) throw refusal('API_KEY_STATE', 'the API key has expired');
      const until = new Date(Math.min(at.getTime() + overlapHours * hourMs, expiresAt.getTime()));
      const earlier = await endTokens(em, id, { at, until });
      if (earlier >= tokensMax) {
        throw refusal(
          'API_KEY_STATE',
          `the API key has ${tokensMax} valid tokens; rotate it with overlap_hours 0, or later`,
        );
      }
      await recordChange(em, call, {
        after: { token: 'changed', overlap_hours: overlapHours },
      });
      return {
        status: 'success',
        token: await issueToken(em, keyring, { userId: id, expiresAt, now: at }),
        expiresAt: timestampFromDate(expiresAt),
        ...(earlier > 0 ? { earlierTokensUntil: timestampFromDate(until) } : {}),
      };
    });
  };
}

/** Rotations of a key take turns. Returns when the key ends. */
async function lockKey(em: EntityManager, workspaceId: string, id: string): Promise<Date> {
  const [key] = await query<{ expires_at: string }>(
    em,
    `select coalesce(users.expires_at, users.created_at + interval '${keyDays} days') as expires_at
     from users join members on members.user_id = users.id
     where users.id = $1 and users.type = 'api_key' and members.workspace_id = $2
     for update of users`,
    [id, workspaceId],
  );
  if (!key) throw keyNotFound();
  return new Date(key.expires_at);
}

/** Ends all tokens of a key at `until`, if not before; returns how many are still valid now. */
async function endTokens(
  em: EntityManager,
  id: string,
  { at, until }: { at: Date; until: Date },
): Promise<number> {
  await query(
    em,
    `insert into api_key_tokens (user_id, id)
     select $1, '' where not exists (select from api_key_tokens where user_id = $1)`,
    [id],
  );
  // Without an overlap they go at once, whatever the clocks of other machines say.
  await query(
    em,
    'delete from api_key_tokens where user_id = $1 and (valid_until <= $2 or $3::timestamptz <= $2)',
    [id, at, until],
  );
  const earlier = await query(
    em,
    'update api_key_tokens set valid_until = least(valid_until, $2) where user_id = $1 returning 1',
    [id, until],
  );
  return earlier.length;
}
