import type { EntityManager } from '#lib/postgres/store.ts';
import { Template } from './template.ts';

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
