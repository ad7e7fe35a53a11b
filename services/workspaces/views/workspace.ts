import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { EntityManager } from '#lib/postgres/store.ts';
import { Integration } from '../integration.ts';
import { type Settings, Workspace } from '../workspace.ts';
import { workspaceNotFound } from '../workspace-queries.ts';
import { integrationMessage } from './integration.ts';

/** Workspaces as the API shows them, with their integrations, in the order given. */
export async function workspaceMessages(em: EntityManager, workspaces: readonly Workspace[]) {
  const ids = workspaces.map(({ id }) => id);
  const integrations = await em.find(
    Integration,
    { workspace_id: { $in: ids } },
    { orderBy: { created_at: 'asc', id: 'asc' } },
  );
  return workspaces.map((workspace) => ({
    id: workspace.id,
    name: workspace.name,
    settings: settingsMessage(workspace.settings),
    integrations: integrations
      .filter((integration) => integration.workspace_id === workspace.id)
      .map((integration) => integrationMessage(integration)),
    createdAt: timestampFromDate(workspace.created_at),
    updatedAt: timestampFromDate(workspace.updated_at),
  }));
}

/** Workspaces for members who may not read their settings. */
export function workspaceNames(workspaces: readonly Workspace[]) {
  return workspaces.map(({ id, name, created_at, updated_at }) => ({
    id,
    name,
    createdAt: timestampFromDate(created_at),
    updatedAt: timestampFromDate(updated_at),
  }));
}

export async function workspaceMessage(em: EntityManager, id: string) {
  const workspace = await em.findOneOrFail(Workspace, { id }, { failHandler: workspaceNotFound });
  const [message] = await workspaceMessages(em, [workspace]);
  return message;
}

export function settingsMessage(settings: Settings) {
  return {
    websiteUrl: settings.website_url,
    logoUrl: settings.logo_url,
    timezone: settings.timezone,
    customEndpointUrl: settings.custom_endpoint_url,
    marketingEmailProviderId: settings.marketing_email_provider_id,
    transactionalEmailProviderId: settings.transactional_email_provider_id,
    emailTrackingEnabled: settings.email_tracking_enabled,
    defaultLanguage: settings.default_language,
    languages: settings.languages,
  };
}
