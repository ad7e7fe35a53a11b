import { query } from '#lib/postgres/query.ts';
import { refusal } from '#lib/rpc/reasons.ts';
import { callerOf } from '#lib/rpc/server/access.ts';
import type { Context, Methods } from '../context.ts';

export function logout({ store }: Context): Methods['logout'] {
  return async (_, call) => {
    const { type, subject } = callerOf(call);
    if (type !== 'user') {
      throw refusal('NO_SESSION', 'an API key has no session');
    }
    await query(store.fork(), 'delete from sessions where user_id = $1', [subject]);
    return { message: 'Logged out successfully' };
  };
}
