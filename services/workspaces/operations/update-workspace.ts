import { invalidField } from '#lib/errors/errors.ts';
import { recordChange } from '#lib/rpc/server/audit.ts';
import { differences } from '../audit/changes.ts';
import type { Context, Methods } from '../context.ts';
import type { Integration } from '../integration.ts';
import { refreshMailSettings } from '../integrations/mail-settings.ts';
import { checkUnused } from '../integrations/uses.ts';
import { providerKeys, storedSettings } from '../settings.ts';
import { workspaceMessage } from '../views/workspace.ts';
import type { StoredSettings, Workspace } from '../workspace.ts';
import { findIntegrations, lockWorkspace } from '../workspace-queries.ts';

export function updateWorkspace(context: Context): Methods['updateWorkspace'] {
  const { store, now } = context;
  return async (request, call) => {
    const answer = await store.fork().transactional(async (em) => {
      const workspace = await lockWorkspace(em, request.id);
      const settings = storedSettings(request.settings, workspace.settings);
      const integrations = await findIntegrations(em, [request.id]);
      checkProviders(settings, integrations);
      await checkStillProvided(context, workspace, settings);
      const changes = differences(shown(workspace), { name: request.name, ...settings });
      workspace.name = request.name;
      workspace.settings = settings;
      workspace.updated_at = now();
      await em.flush();
      await recordChange(em, call, changes);
      return { workspace: workspaceMessage(workspace, integrations) };
    });
    await refreshMailSettings(context, request.id);
    return answer;
  };
}

/** The service whose work needs each provider. */
const usersOf = {
  marketing_email_provider_id: 'broadcasts',
  transactional_email_provider_id: 'messages',
} as const;

/** Refuses to leave work that is not done without a provider. */
async function checkStillProvided(
  { integrationUses }: Context,
  { id: workspaceId, settings: before }: Workspace,
  after: StoredSettings,
): Promise<void> {
  for (const key of providerKeys) {
    const service = integrationUses[usersOf[key]];
    if (before[key] === '' || after[key] !== '' || !service) continue;
    const asked = { workspaceId, integrationId: before[key], withUnbound: true };
    await checkUnused([service], asked, `settings.${key} has to name a provider`);
  }
}

const shown = ({ name, settings }: Workspace) => ({ name, ...settings });

function checkProviders(settings: StoredSettings, integrations: readonly Integration[]): void {
  for (const key of providerKeys) {
    const chosen = settings[key];
    if (chosen && !integrations.some((integration) => integration.id === chosen)) {
      throw invalidField(
        `settings.${key}`,
        `${key} names no integration of the workspace; workspaces.get lists them`,
      );
    }
  }
}
