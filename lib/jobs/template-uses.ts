import { type Client, Code, ConnectError } from '@connectrpc/connect';
import type {
  TemplateContentService,
  TemplateUseService,
} from '#gen/postrider/templates/v1/templates_pb.ts';
import { schemaOf } from '../postgres/job-schema.ts';
import { query } from '../postgres/query.ts';
import type { EntityManager, Store } from '../postgres/store.ts';
import { addJob } from './jobs.ts';
import { upgradeJobs } from './upgrade-jobs.ts';

/** Something that uses templates, which cannot be deleted meanwhile. */
export type TemplateUser = {
  kind: 'notification' | 'list' | 'broadcast';
  workspaceId: string;
  id: string;
};

export type TemplateUses = {
  /** The user's name, for people. */
  name: string;
  templateIds: readonly string[];
};

export type TemplateUseClient = Pick<Client<typeof TemplateUseService>, 'setTemplateUses'>;

type Pushing = { store: Store; templateUses: TemplateUseClient };

/** By then a transaction that began has ended. */
const repairMs = 30_000;
/** A push is part of a transaction, which holds locks. */
const pushMs = 3_000;
/**
 * A version that the clock of a restored or moved database gives may be lower than one from before.
 */
const versionsMax = 3;

/**
 * Called before a transaction that begins to use templates: a job that pushes the uses as they then
 * are, so that a crash or a rollback after the push leaves no wrong use.
 */
export async function expectTemplateUses(store: Store, user: TemplateUser): Promise<void> {
  await endTemplateUses(store.fork(), store.name, user, new Date(Date.now() + repairMs));
}

/**
 * Called at the end of the transaction that begins to use templates: when it answers, none of them
 * can be deleted. Templates of `before` stay used until the transaction has committed. NOT_FOUND
 * names a template that does not exist.
 */
export async function beginTemplateUses(
  em: EntityManager,
  { store, templateUses }: Pushing,
  user: TemplateUser,
  { name, templateIds, before = [] }: TemplateUses & { before?: readonly string[] },
): Promise<void> {
  const ended = before.filter((id) => !templateIds.includes(id));
  const version = await lockUses(em, user);
  const push = (ids: readonly string[]) =>
    setNewest(templateUses, user, { name, templateIds: ids, version });
  try {
    await push([...templateIds, ...ended]);
  } catch (error) {
    const { code } = ConnectError.from(error);
    // A row from before uses were recorded may name a template that does not exist.
    if (code === Code.NotFound && ended.length > 0) await push(templateIds);
    // A templates process from before deletes none. The expected job tries again.
    else if (code !== Code.Unimplemented) throw error;
  }
  if (ended.length > 0) await endTemplateUses(em, store.name, user);
}

/** Called in the transaction that ends a use: a job pushes the uses that are left. */
export async function endTemplateUses(
  em: EntityManager,
  service: string,
  user: TemplateUser,
  runAt?: Date,
): Promise<void> {
  const job = { task: 'pushTemplateUses', payload: user, key: keyOf(user) };
  await addJob(em, service, { ...job, ...(runAt ? { runAt } : {}) });
}

/**
 * Called after the transaction that has ended some uses of a user, and before its answer: the
 * caller may delete those templates at once. Where it fails, the job of the transaction follows.
 */
export async function releaseTemplates(
  { store, templateUses, usesOf }: Pushing & { usesOf: ReadUses },
  user: TemplateUser,
): Promise<void> {
  try {
    await store.fork().transactional(async (em) => {
      const version = await lockUses(em, user);
      // Read under the lock: the id may belong to a new row by now.
      const { name, templateIds } = (await usesOf(em, user)) ?? { name: '', templateIds: [] };
      await setNewest(templateUses, user, { name, templateIds, version });
    });
  } catch {}
}

type ReadUses = (em: EntityManager, user: TemplateUser) => Promise<TemplateUses | undefined>;

/**
 * The task `pushTemplateUses` of a service: reads what something uses, by `usesOf`, and pushes it.
 * Templates that do not exist are left out, since what uses them was there before uses were known.
 */
export function pushTemplateUses({
  store,
  templateUses,
  templates,
  usesOf,
}: Pushing & {
  templates: Pick<Client<typeof TemplateContentService>, 'batchGetTemplates'>;
  usesOf: ReadUses;
}) {
  return async (payload: unknown): Promise<void> => {
    const user = payload as TemplateUser;
    await store.fork().transactional(async (em) => {
      const version = await lockUses(em, user);
      const { name, templateIds } = (await usesOf(em, user)) ?? { name: '', templateIds: [] };
      const { workspaceId } = user;
      const keys = templateIds.map((id) => ({ id }));
      const found =
        keys.length === 0 ? [] : (await templates.batchGetTemplates({ workspaceId, keys })).found;
      const there = new Set(found.map(({ template }) => template?.id));
      const uses = { name, templateIds: templateIds.filter((id) => there.has(id)), version };
      await setNewest(templateUses, user, uses);
    });
  };
}

/**
 * The task `pushAllTemplateUses`: adds the job of everything that `usersSql` selects by
 * `workspace_id` and `id`. For what was there before uses were known.
 */
export function pushAllTemplateUses(
  store: Store,
  { kind, usersSql }: { kind: TemplateUser['kind']; usersSql: string },
) {
  return async (): Promise<void> => {
    await query(
      store.fork(),
      `select ${schemaOf(store.name)}.add_job(
         identifier := 'pushTemplateUses',
         payload := json_build_object('kind', $1::text, 'workspaceId', workspace_id, 'id', id),
         job_key := ${keySql},
         run_at := now() + random() * interval '1 minute')
       from (${usersSql}) as users`,
      [kind],
    );
  };
}

const keyOf = ({ kind, workspaceId, id }: TemplateUser) =>
  `template uses of ${kind} ${workspaceId} ${id}`;
const keySql = "concat('template uses of ', $1::text, ' ', workspace_id, ' ', id)";

/**
 * SQL of a migration: everything is pushed once, and again an hour later, since processes of before
 * may make more until then. A service that is new has nothing to push, and no jobs yet.
 */
export function pushAllOnce(service: string): string {
  const task = 'pushAllTemplateUses';
  return upgradeJobs(service, [
    { task, key: 'all template uses', after: '0' },
    { task, key: 'all template uses again', after: '1 hour' },
  ]);
}

/** The caller holds the lock of the user, so a higher version is from before. */
async function setNewest(
  templateUses: TemplateUseClient,
  user: TemplateUser,
  { name, templateIds, version: first }: TemplateUses & { version: bigint },
): Promise<void> {
  let version = first;
  for (let calls = 0; calls < versionsMax; calls += 1) {
    const request = { ...user, name, templateIds: [...templateIds], version };
    const answer = await templateUses.setTemplateUses(request, { timeoutMs: pushMs });
    if (answer.version <= version) return;
    version = answer.version + 1n;
  }
  throw new Error('the uses of templates were set by somebody else at the same time');
}

/**
 * Pushes of one user follow each other: each reads, or sees, what the transaction before has
 * committed. Returns a version that is higher than those of earlier locks: microseconds.
 */
async function lockUses(em: EntityManager, user: TemplateUser): Promise<bigint> {
  const [row] = await query<{ version: string }>(
    em,
    `with lock as materialized (select pg_advisory_xact_lock(hashtext($1)))
     select (extract(epoch from clock_timestamp()) * 1000000)::bigint as version from lock`,
    [keyOf(user)],
  );
  return BigInt(row?.version ?? 0);
}
