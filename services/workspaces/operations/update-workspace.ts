import { invalidField } from '#lib/rpc/errors.ts';
import { recordChange } from '#lib/rpc/server/audit.ts';
import { differences } from '../audit/changes.ts';
import type { Context, Methods } from '../context.ts';
import type { Integration } from '../integration.ts';
import { storedSettings } from '../settings.ts';
import { workspaceMessage } from '../views/workspace.ts';
import type { Settings, Workspace } from '../workspace.ts';
import { findIntegrations, lockWorkspace } from '../workspace-queries.ts';

export function updateWorkspace({ store, now }: Context): Methods['updateWorkspace'] {
  return (request, call) =>
    store.fork().transactional(async (em) => {
      const settings = storedSettings(request.settings);
      const workspace = await lockWorkspace(em, request.id);
      const integrations = await findIntegrations(em, [request.id]);
      checkProviders(settings, integrations);
      const changes = differences(shown(workspace), { name: request.name, ...settings });
      workspace.name = request.name;
      workspace.settings = settings;
      workspace.updated_at = now();
      await em.flush();
      await recordChange(em, call, changes);
      return { workspace: workspaceMessage(workspace, integrations) };
    });
}

const shown = ({ name, settings }: Workspace) => ({ name, ...settings });

function checkProviders(settings: Settings, integrations: readonly Integration[]): void {
  for (const key of ['marketing_email_provider_id', 'transactional_email_provider_id'] as const) {
    const chosen = settings[key];
    if (chosen && !integrations.some((integration) => integration.id === chosen)) {
      throw invalidField(`settings.${key}`, `${key} names no integration of the workspace`);
    }
  }
}
