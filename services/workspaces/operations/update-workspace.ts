import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '#lib/postgres/store.ts';
import { invalidField } from '#lib/rpc/errors.ts';
import type { Context, Methods } from '../context.ts';
import { Integration } from '../integration.ts';
import { storedSettings } from '../settings.ts';
import { workspaceMessage } from '../views/workspace.ts';
import { type Settings, Workspace } from '../workspace.ts';
import { workspaceNotFound } from '../workspace-queries.ts';

export function updateWorkspace({ store, now }: Context): Methods['updateWorkspace'] {
  return (request) =>
    store.fork().transactional(async (em) => {
      const settings = storedSettings(request.settings);
      const workspace = await em.findOneOrFail(
        Workspace,
        { id: request.id },
        { lockMode: LockMode.PESSIMISTIC_WRITE, failHandler: workspaceNotFound },
      );
      await checkProviders(em, request.id, settings);
      workspace.name = request.name;
      workspace.settings = settings;
      workspace.updated_at = now();
      await em.flush();
      return { workspace: await workspaceMessage(em, request.id) };
    });
}

async function checkProviders(em: EntityManager, id: string, settings: Settings): Promise<void> {
  const integrations = await em.find(Integration, { workspace_id: id });
  for (const key of ['marketing_email_provider_id', 'transactional_email_provider_id'] as const) {
    const chosen = settings[key];
    if (chosen && !integrations.some((integration) => integration.id === chosen)) {
      throw invalidField(`settings.${key}`, `${key} names no integration of the workspace`);
    }
  }
}
