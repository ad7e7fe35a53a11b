import { Code, ConnectError } from '@connectrpc/connect';
import { oldBoxKeys } from '#lib/keys/secret-key.ts';
import { callerOf } from '#lib/rpc/server/access.ts';
import type { Context, Methods } from '../context.ts';

export function getOldBoxKeys({ secretKeys }: Context): Methods['getOldBoxKeys'] {
  return async ({ workspaceId, purpose }, call) => {
    if (callerOf(call).subject !== 'messages') {
      throw new ConnectError('only messages may call this', Code.PermissionDenied);
    }
    return { keys: oldBoxKeys(secretKeys, purpose, workspaceId) };
  };
}
