import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { callerOf } from '#lib/rpc/server/access.ts';
import type { Context, Methods } from '../context.ts';
import { Session, sessionSeconds } from '../user.ts';

const sessionsMax = 1_000;

export function listSessions({ store, now }: Context): Methods['listSessions'] {
  return async (_, call) => {
    const { type, subject, sessionId } = callerOf(call);
    if (type !== 'user') return {};
    const sessions = await store
      .fork()
      .find(
        Session,
        { user_id: subject, expires_at: { $gt: now() } },
        { orderBy: { expires_at: 'desc', id: 'asc' }, limit: sessionsMax },
      );
    return {
      sessions: sessions.map(({ id, expires_at }) => ({
        id,
        createdAt: timestampFromDate(new Date(expires_at.getTime() - sessionSeconds * 1000)),
        expiresAt: timestampFromDate(expires_at),
        isCurrent: id === sessionId,
      })),
    };
  };
}
