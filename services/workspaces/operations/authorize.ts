import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Context, Methods } from '../context.ts';
import { createAuthorize } from '../members/authorize.ts';

export function authorize(context: Context): Methods['authorize'] {
  const answer = createAuthorize(context);
  return async ({ userId, sessionId, workspaceId, token }) => {
    if (token === '') return answer(userId, sessionId, workspaceId);
    const verified = await context.verifyOld(token);
    if (!verified) return { active: false };
    const { claims, expiresAtMs } = verified;
    const { type, subject } = claims;
    return {
      ...(await answer(subject, claims.sessionId, workspaceId)),
      subject: {
        type,
        userId: subject,
        sessionId: claims.sessionId,
        expiresAt: timestampFromMs(expiresAtMs),
      },
    };
  };
}
