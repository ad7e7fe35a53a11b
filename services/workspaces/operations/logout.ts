import { refusal } from '#lib/errors/reasons.ts';
import { query } from '#lib/postgres/query.ts';
import { callerOf } from '#lib/rpc/server/access.ts';
import { writeForMember } from '../audit/entries.ts';
import type { Context, Methods } from '../context.ts';

export function logout({ store }: Context): Methods['logout'] {
  return async (_, call) => {
    const { type, subject } = callerOf(call);
    if (type !== 'user') {
      throw refusal(
        'NO_SESSION',
        'an API key has no session: an owner revokes it by workspaces.revokeAPIKey',
      );
    }
    await store.fork().transactional(async (em) => {
      await query(em, 'delete from sessions where user_id = $1', [subject]);
      await writeForMember(em, call, subject);
    });
    return { message: 'Logged out successfully' };
  };
}
