import type { EntityManager } from '#lib/postgres/store.ts';
import { Template, templateNotFound } from './template.ts';

type Version = { id: string; version: number };
type TemplateOf = (key: Version) => Template | undefined;

/** Many versions by one query. */
export async function findVersions(
  em: EntityManager,
  workspaceId: string,
  versions: readonly Version[],
): Promise<TemplateOf> {
  if (versions.length === 0) return () => undefined;
  const found = await em.find(Template, {
    workspace_id: workspaceId,
    $or: versions.map(({ id, version }) => ({ id, version })),
  });
  const known = new Map(found.map((each) => [`${each.id} ${each.version}`, each]));
  return ({ id, version }) => known.get(`${id} ${version}`);
}

type Wanted = { workspaceId: string; id: string; version: number };

/** A pinned version can always be read; without one it is the newest, unless the template was deleted. */
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
