import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { Template, type TemplateSource, templateNotFound } from './template.ts';

type Version = { id: string; version: number };
type TemplateOf = (key: Version) => TemplateSource | undefined;
type TemplateKey = { workspaceId: string; id: string };
type VersionKey = TemplateKey & { version: number };

const sourceOnly = { exclude: ['compiled', 'compiled_translations'] } as const;
const orNotFound = { failHandler: templateNotFound };

/** Many versions by one query. */
export async function findVersions(
  em: EntityManager,
  workspaceId: string,
  versions: readonly Version[],
): Promise<TemplateOf> {
  if (versions.length === 0) return () => undefined;
  const found = await em.find(
    Template,
    {
      workspace_id: workspaceId,
      $or: versions.map(({ id, version }) => ({ id, version })),
    },
    sourceOnly,
  );
  const known = new Map(found.map((each) => [`${each.id} ${each.version}`, each]));
  return ({ id, version }) => known.get(`${id} ${version}`);
}

/** The newest versions of templates, in the order of the ids, without those that were deleted meanwhile. */
export async function findNewestOf(
  em: EntityManager,
  workspaceId: string,
  ids: readonly string[],
): Promise<TemplateSource[]> {
  const found = await em.find(
    Template,
    { workspace_id: workspaceId, is_newest: true, id: { $in: [...ids] } },
    sourceOnly,
  );
  const byId = new Map(found.map((each) => [each.id, each]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** A pinned version can always be read; without one it is the newest, unless the template was deleted. */
export function findVersion(
  em: EntityManager,
  { workspaceId, id, version }: VersionKey,
): Promise<Template> {
  const which = version > 0 ? { version } : { deleted_at: null };
  return em.findOneOrFail(
    Template,
    { workspace_id: workspaceId, id, ...which },
    { orderBy: { version: 'desc' }, ...orNotFound },
  );
}

/** A version, or the newest one, of a template that is not deleted. */
export function findLiveVersion(
  em: EntityManager,
  { workspaceId, id, version }: VersionKey,
): Promise<TemplateSource> {
  const which = version > 0 ? { version } : { is_newest: true };
  return em.findOneOrFail(
    Template,
    { workspace_id: workspaceId, id, deleted_at: null, ...which },
    { ...sourceOnly, ...orNotFound },
  );
}

export function findNewest(em: EntityManager, key: TemplateKey): Promise<TemplateSource> {
  return findLiveVersion(em, { ...key, version: 0 });
}

/**
 * Makes every change of a workspace's templates and of their uses wait for the one before, so that no deletion passes a
 * new use, and no two changes make the same version. Compiling comes before.
 */
export async function lockTemplates(em: EntityManager, workspaceId: string): Promise<void> {
  await query(em, 'select pg_advisory_xact_lock(hashtext($1))', [`templates ${workspaceId}`]);
}
