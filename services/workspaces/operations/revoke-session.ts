import { query } from '#lib/postgres/query.ts';
import { refusal } from '#lib/rpc/reasons.ts';
import { callerOf } from '#lib/rpc/server/access.ts';
import type { Context, Methods } from '../context.ts';
import { isUuid } from '../user.ts';

export function revokeSession({ store }: Context): Methods['revokeSession'] {
  return async ({ id }, call) => {
    const { type, subject } = callerOf(call);
    const isPossible = type === 'user' && isUuid(id);
    const rows = isPossible ? await remove(store, id, subject) : [];
    if (rows.length === 0) throw refusal('SESSION_NOT_FOUND', 'Session not found');
    return { status: 'success' };
  };
}

function remove(store: Context['store'], id: string, userId: string) {
  return query(store.fork(), 'delete from sessions where id = $1 and user_id = $2 returning 1', [
    id,
    userId,
  ]);
}
