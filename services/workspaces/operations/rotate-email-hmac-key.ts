import type { Context, Methods } from '../context.ts';
import { lockWorkspace } from '../workspace-queries.ts';

export function rotateEmailHmacKey({ store, keyring }: Context): Methods['rotateEmailHmacKey'] {
  return ({ workspaceId }) =>
    store.fork().transactional(async (em) => {
      const workspace = await lockWorkspace(em, workspaceId);
      return { key: workspace.newHmacKey(keyring) };
    });
}
