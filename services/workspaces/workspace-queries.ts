import type { ConnectError } from '@connectrpc/connect';
import { LockMode } from '@mikro-orm/core';
import { refusal } from '#lib/errors/reasons.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { Integration } from './integration.ts';
import { Workspace } from './workspace.ts';

function workspaceNotFound(): ConnectError {
  return refusal('WORKSPACE_NOT_FOUND', 'Workspace not found');
}

export function findWorkspace(em: EntityManager, id: string): Promise<Workspace> {
  return em.findOneOrFail(Workspace, { id, deleted_at: null }, { failHandler: workspaceNotFound });
}

export function lockWorkspace(em: EntityManager, id: string): Promise<Workspace> {
  return em.findOneOrFail(
    Workspace,
    { id, deleted_at: null },
    { failHandler: workspaceNotFound, lockMode: LockMode.PESSIMISTIC_WRITE },
  );
}

/** The integrations of workspaces, oldest first. */
export function findIntegrations(
  em: EntityManager,
  workspaceIds: readonly string[],
): Promise<Integration[]> {
  return em.find(
    Integration,
    { workspace_id: { $in: workspaceIds } },
    { orderBy: { created_at: 'asc', id: 'asc' } },
  );
}
