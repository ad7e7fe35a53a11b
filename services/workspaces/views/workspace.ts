import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { camelKeys } from '#lib/json/camel-keys.ts';
import type { Integration } from '../integration.ts';
import type { Workspace } from '../workspace.ts';
import { integrationMessage } from './integration.ts';

/** `integrations` may contain those of other workspaces, which are left out. */
export function workspaceMessage(workspace: Workspace, integrations: readonly Integration[]) {
  return {
    ...workspaceName(workspace),
    settings: camelKeys(workspace.settings),
    integrations: integrations
      .filter((integration) => integration.workspace_id === workspace.id)
      .map((integration) => integrationMessage(integration)),
  };
}

/** A workspace for members who may not read its settings. */
export function workspaceName({ id, name, created_at, updated_at }: Workspace) {
  return {
    id,
    name,
    createdAt: timestampFromDate(created_at),
    updatedAt: timestampFromDate(updated_at),
  };
}
