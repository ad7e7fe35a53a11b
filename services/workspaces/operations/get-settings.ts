import type { Context, Methods } from '../context.ts';
import { settingsMessage } from '../views/workspace.ts';
import { Workspace } from '../workspace.ts';
import { workspaceNotFound } from '../workspace-queries.ts';

export function getSettings({ store, publicUrl }: Context): Methods['getSettings'] {
  return async ({ workspaceId }) => {
    const workspace = await store
      .fork()
      .findOneOrFail(Workspace, { id: workspaceId }, { failHandler: workspaceNotFound });
    const settings = settingsMessage(workspace.settings);
    return {
      name: workspace.name,
      settings: { ...settings, customEndpointUrl: settings.customEndpointUrl || publicUrl },
    };
  };
}
