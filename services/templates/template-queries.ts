import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { Template, type TemplateSource, templateNotFound } from './template.ts';

type Version = { id: string; version: number };
type TemplateOf = (key: Version) => TemplateSource | undefined;
type TemplateKey = { workspaceId: string; id: string };
type VersionKey = TemplateKey & { version: number };

/** Many versions by one query. */
export async function findVersions(
  em: EntityManager,
  workspaceId: string,
  versions: readonly Version[],
): Promise<TemplateOf> {
  if (versions.length === 0) return () => undefined;
  const rows = await query<SourceRow>(
    em,
    `select ${columns} from (select distinct * from unnest($2::text[], $3::int[])) as asked (id, version)
     join templates t on t.workspace_id = $1 and t.id = asked.id and t.version = asked.version`,
    [workspaceId, versions.map(({ id }) => id), versions.map(({ version }) => version)],
  );
  const known = new Map(rows.map((row) => [`${row.id} ${row.version}`, toSource(row)]));
  return ({ id, version }) => known.get(`${id} ${version}`);
}

/**
 * The newest versions of templates, in the order of the ids, without those that were deleted
 * meanwhile.
 */
export async function findNewestOf(
  em: EntityManager,
  workspaceId: string,
  ids: readonly string[],
): Promise<TemplateSource[]> {
  const rows = await query<SourceRow>(
    em,
    `select ${columns} from unnest($2::text[]) with ordinality as asked (id, place)
     join templates t on t.workspace_id = $1 and t.is_newest and t.id = asked.id
     order by place`,
    [workspaceId, ids],
  );
  return rows.map(toSource);
}

type Times = 'created_at' | 'updated_at' | 'deleted_at';
/** Read without entities, which would write all JSON again to compare it later. */
type SourceRow = Omit<TemplateSource, Times> & {
  created_at: string;
  updated_at: string;
  deleted_at: string | null;
};

const columns = [
  ...['workspace_id', 'id', 'version', 'name', 'channel', 'category', 'email', 'web'],
  ...['template_macro_id', 'template_macro_version', 'integration_id', 'test_data', 'settings'],
  ...['translations', 'created_at', 'updated_at', 'deleted_at', 'is_newest'],
]
  .map((name) => `t.${name}`)
  .join(', ');

function toSource(row: SourceRow): TemplateSource {
  const { created_at: created, updated_at: updated, deleted_at: deleted } = row;
  return {
    ...row,
    created_at: new Date(created),
    updated_at: new Date(updated),
    deleted_at: deleted === null ? null : new Date(deleted),
  };
}

/**
 * A pinned version can always be read; without one it is the newest, unless the template was
 * deleted.
 */
export function findVersion(
  em: EntityManager,
  { workspaceId, id, version }: VersionKey,
): Promise<Template> {
  const which = version > 0 ? { version } : { deleted_at: null };
  return em.findOneOrFail(
    Template,
    { workspace_id: workspaceId, id, ...which },
    { orderBy: { version: 'desc' }, failHandler: templateNotFound },
  );
}

/** A version, or the newest one, of a template that is not deleted. */
export async function findLiveVersion(
  em: EntityManager,
  { workspaceId, id, version }: VersionKey,
): Promise<TemplateSource> {
  const which = version > 0 ? 't.version = $3' : 't.is_newest';
  const [row] = await query<SourceRow>(
    em,
    `select ${columns} from templates t
     where t.workspace_id = $1 and t.id = $2 and t.deleted_at is null and ${which}`,
    version > 0 ? [workspaceId, id, version] : [workspaceId, id],
  );
  if (!row) throw templateNotFound();
  return toSource(row);
}

export function findNewest(em: EntityManager, key: TemplateKey): Promise<TemplateSource> {
  return findLiveVersion(em, { ...key, version: 0 });
}

/**
 * Makes every change of a workspace's templates and of their uses wait for the one before, so that
 * no deletion passes a new use, and no two changes make the same version. Compiling comes before.
 */
export async function lockTemplates(em: EntityManager, workspaceId: string): Promise<void> {
  await query(em, 'select pg_advisory_xact_lock(hashtext($1))', [`templates ${workspaceId}`]);
}
