import type { EntityManager } from '#lib/postgres/store.ts';
import type { Context, Methods } from '../context.ts';
import { Template, templateNotFound } from '../template.ts';
import { toTemplate } from '../views/template.ts';

export function getTemplate({ store }: Context): Methods['getTemplate'] {
  return async (request) => ({
    template: toTemplate(await findVersion(store.fork(), request)),
  });
}

type Wanted = { workspaceId: string; id: string; version: number };

/** A pinned version is there for good; without one it is the newest, unless the template was deleted. */
export function findVersion(
  em: EntityManager,
  { workspaceId, id, version }: Wanted,
): Promise<Template> {
  const which = version > 0 ? { version } : { deleted_at: null };
  return em.findOneOrFail(
    Template,
    { workspace_id: workspaceId, id, ...which },
    { orderBy: { version: 'desc' }, failHandler: templateNotFound },
  );
}
