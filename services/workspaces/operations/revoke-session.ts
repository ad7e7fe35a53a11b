import type { ConnectError } from '@connectrpc/connect';
import { refusal } from '#lib/errors/reasons.ts';
import { query } from '#lib/postgres/query.ts';
import { callerOf } from '#lib/rpc/server/access.ts';
import { writeForMember } from '../audit/entries.ts';
import type { Context, Methods } from '../context.ts';
import { isUuid } from '../user.ts';

export function revokeSession({ store }: Context): Methods['revokeSession'] {
  return async ({ id }, call) => {
    const { type, subject } = callerOf(call);
    if (type !== 'user' || !isUuid(id)) throw sessionNotFound();
    await store.fork().transactional(async (em) => {
      const rows = await query(
        em,
        'delete from sessions where id = $1 and user_id = $2 returning 1',
        [id, subject],
      );
      if (rows.length === 0) throw sessionNotFound();
      await writeForMember(em, call, subject);
    });
    return { status: 'success' };
  };
}

function sessionNotFound(): ConnectError {
  return refusal('SESSION_NOT_FOUND', 'Session not found');
}
