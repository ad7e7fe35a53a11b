import type { Context, Methods } from '../context.ts';
import { hmacKeyPlace, workspaceSecrets } from '../workspace.ts';
import { lockWorkspace } from '../workspace-queries.ts';

export function getEmailHmacKey({ store, keyring }: Context): Methods['getEmailHmacKey'] {
  return ({ workspaceId }) =>
    store.fork().transactional(async (em) => {
      const workspace = await lockWorkspace(em, workspaceId);
      const key = workspace.sealed_hmac_key
        ? keyring.open(workspaceSecrets, workspace.sealed_hmac_key, hmacKeyPlace(workspaceId))
        : workspace.newHmacKey(keyring);
      return { key };
    });
}
