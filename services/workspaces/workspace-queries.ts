import { Code, ConnectError } from '@connectrpc/connect';
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '#lib/postgres/store.ts';
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
