import { recordChange } from '#lib/rpc/server/audit.ts';
import type { Context, Methods } from '../context.ts';
import { lockWorkspace } from '../workspace-queries.ts';

export function rotateEmailHmacKey({ store, keyring }: Context): Methods['rotateEmailHmacKey'] {
  return ({ workspaceId }, call) =>
    store.fork().transactional(async (em) => {
      const workspace = await lockWorkspace(em, workspaceId);
      const key = workspace.newHmacKey(keyring);
      await recordChange(em, call, { after: { email_hmac_key: 'changed' } });
      return { key };
    });
}
