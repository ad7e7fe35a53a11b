import { refusal } from '#lib/errors/reasons.ts';
import { oldBoxKeys } from '#lib/keys/secret-key.ts';
import { callerOf } from '#lib/rpc/server/access.ts';
import type { Context, Methods } from '../context.ts';

export function getOldBoxKeys({ secretKeys }: Context): Methods['getOldBoxKeys'] {
  return async ({ workspaceId, purpose }, call) => {
    if (callerOf(call).subject !== 'messages') {
      throw refusal('SERVICES_ONLY', 'only messages may call this');
    }
    return { keys: oldBoxKeys(secretKeys, purpose, workspaceId) };
  };
}
