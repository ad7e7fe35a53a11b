import type { Context, Methods } from '../context.ts';
import { createAuthorize } from '../members/authorize.ts';

export function authorize(context: Context): Methods['authorize'] {
  const answer = createAuthorize(context);
  return ({ userId, sessionId, workspaceId }) => answer(userId, sessionId, workspaceId);
}
