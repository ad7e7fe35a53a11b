import { camelKeys } from '#lib/json/camel-keys.ts';
import type { Context, Methods } from '../context.ts';
import { findWorkspace } from '../workspace-queries.ts';

export function getSettings({ store, publicUrl }: Context): Methods['getSettings'] {
  return async ({ workspaceId }) => {
    const { name, settings: stored } = await findWorkspace(store.fork(), workspaceId);
    const settings = camelKeys(stored);
    return {
      name,
      settings: { ...settings, customEndpointUrl: settings.customEndpointUrl || publicUrl },
    };
  };
}
