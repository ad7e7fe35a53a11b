import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '#lib/postgres/store.ts';
import { Integration } from './integration.ts';
import { settingsMessage } from './settings.ts';
import { Workspace } from './workspace.ts';

export function workspaceNotFound(): ConnectError {
  return new ConnectError('Workspace not found', Code.NotFound);
}

export function lockWorkspace(em: EntityManager, id: string): Promise<Workspace> {
  return em.findOneOrFail(
    Workspace,
    { id },
    { failHandler: workspaceNotFound, lockMode: LockMode.PESSIMISTIC_WRITE },
  );
}

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
      .map((integration) => integration.toMessage()),
    createdAt: timestampFromDate(workspace.created_at),
    updatedAt: timestampFromDate(workspace.updated_at),
  }));
}

/** Workspaces as members see them who may not read their settings. */
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
