import { hiddenArray, prepared } from '#lib/postgres/prepared.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager, Store } from '#lib/postgres/store.ts';
import { leaseMs } from './claims.ts';
import { elapsedSince } from './elapsed.ts';

/** A transactional message, as it is accepted. */
export type Accepted = {
  id: string;
  email: string;
  externalId: string | null;
  /** Of mails with a body alone. */
  listId: string | null;
  notificationId: string;
  templateId: string;
  templateVersion: number;
  integrationId: string;
  /** `sending` is claimed by this process; `deferred` waits in the queue. */
  status: 'sending' | 'deferred' | 'failed';
  /** Why it failed. */
  info: string | null;
  /** When it is to be sent; at once if absent. */
  dueAt: Date | undefined;
  /** Not sent any more after this. */
  expiresAt: Date | undefined;
  request: Buffer;
  /** HTML and text of a mail with content of its own. */
  body: Buffer | null;
  /** Between commas; null for none. */
  tags: string | null;
  /** Names, types and sizes of its files, as JSON. */
  attachments: string | null;
  /**
   * Before contacts was asked about the address, by the process's monotonic clock: a deletion since
   * then is about the message.
   */
  askedMs: number;
};

/** An external id stays taken unless its message has failed without a bounce. */
const holdsKey = '(failed_at is null or bounced_at is not null)';

// Looked up one by one, by their own index: a plan that is kept from a young table would read all
// messages of the workspace by another. Compared as pairs as well, which only this index can serve:
// no row is read of other workspaces with the same id.
const heldSql = (externalId: string) => `select external_id, id from messages
    where external_id = ${externalId} and (external_id, workspace_id) >= (${externalId}, $1)
      and (external_id, workspace_id) <= (${externalId}, $1) and ${holdsKey}
    offset 0`;

/** Parts of the statement for a group in which some messages have bodies. */
const bodySteps = {
  values: ', $19::bytea[], $20::text[]',
  columns: ', body, list_id',
  list: ', list_id',
  hasBody: ', has_body',
  isThere: ', nullif(body is not null, false)',
  insert: `, bodied as (
    insert into message_bodies (workspace_id, message_id, body)
    select $1, id, body from accepted join given using (id) where body is not null
  )`,
};
const noBodySteps: typeof bodySteps = {
  ...{ values: '', columns: '', list: '', hasBody: '', isThere: '', insert: '' },
};

const acceptSql = (steps: typeof bodySteps) =>
  prepared(`with given as materialized (
    select * from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int[], $8::text[], $9::text[],
      $10::text[], $11::timestamptz[], $12::bytea[], $13::jsonb[], $17::timestamptz[], $18::text[]${steps.values})
    as given (id, email, external_id, notification_id, template_id, template_version, integration_id, status, info, due_at,
      request, attachments, expires_at, tags${steps.columns})
  ), accepted as (
    insert into messages as m (workspace_id, id, contact_email, external_id, notification_id, template_id,
      template_version, integration_id, status, status_info, attempts, owner, lease_until, due_at, failed_at,
      created_at, updated_at, tags${steps.list})
    select $1, id, email, external_id, notification_id, template_id, template_version, integration_id, status, info,
      (status = 'sending')::int, case when status = 'sending' then $14::uuid end,
      case when status = 'sending' then now() + $15 * interval '1 millisecond' end,
      case when status = 'deferred' then coalesce(due_at, now()) end, case when status = 'failed' then now() end,
      now() - $16::float8 * interval '1 millisecond', now(), string_to_array(tags, ',')${steps.list}
    from given
    -- One that may not be sent is no reason to forget an earlier one with its key.
    where status <> 'failed' or external_id is null or not exists (
      ${heldSql('given.external_id')}
    )
    -- Parallel calls with the same keys wait for each other in one order.
    order by external_id, id
    on conflict (workspace_id, external_id) where external_id is not null and ${holdsKey} do nothing
    returning m.id, m.due_at, m.lease_until, m.created_at
  ), requested as (
    insert into message_requests (workspace_id, message_id, due_at, request, attachments, expires_at${steps.hasBody})
    select $1, id, least(expires_at, coalesce(accepted.due_at, lease_until)), request, attachments, expires_at${steps.isThere} from accepted join given using (id)
  )${steps.insert}
  select id, created_at from accepted`);

const acceptWithBodies = acceptSql(bodySteps);
const acceptRequests = acceptSql(noBodySteps);

/** Writes messages, unless another one holds their external id; gives those that were written. */
export async function insertAccepted(
  em: EntityManager,
  { workspaceId, owner }: { workspaceId: string; owner: string },
  messages: readonly Accepted[],
): Promise<Map<string, Date>> {
  const askedMs = Math.min(...messages.map((message) => message.askedMs));
  const hasBodies = messages.some(({ body }) => body !== null);
  const sql = hasBodies ? acceptWithBodies : acceptRequests;
  const rows = await query<{ id: string; created_at: string }>(em, sql, [
    workspaceId,
    messages.map(({ id }) => id),
    messages.map(({ email }) => email),
    messages.map(({ externalId }) => externalId),
    messages.map(({ notificationId }) => notificationId),
    messages.map(({ templateId }) => templateId),
    messages.map(({ templateVersion }) => templateVersion),
    messages.map(({ integrationId }) => integrationId),
    messages.map(({ status }) => status),
    messages.map(({ info }) => info),
    messages.map(({ dueAt }) => dueAt?.toISOString() ?? null),
    messages.map(({ request }) => request),
    messages.map(({ attachments }) => attachments),
    owner,
    leaseMs,
    elapsedSince(askedMs, () => performance.now()),
    messages.map(({ expiresAt }) => expiresAt?.toISOString() ?? null),
    messages.map(({ tags }) => tags),
    ...(hasBodies ? [messages.map(({ body }) => body), messages.map(({ listId }) => listId)] : []),
  ]);
  return new Map(rows.map((row) => [row.id, new Date(row.created_at)]));
}

export const byExternalIdSql = `select held.external_id, held.id
  from unnest(${hiddenArray('$2::text[]')}) as asked (external_id)
  cross join lateral (${heldSql('asked.external_id')}) held`;

/** The messages that hold external ids. */
export async function findByExternalId(
  em: EntityManager,
  workspaceId: string,
  externalIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await query<{ external_id: string; id: string }>(em, byExternalIdSql, [
    workspaceId,
    externalIds,
  ]);
  return new Map(rows.map((row) => [row.external_id, row.id]));
}

/** The addresses among these with a bounce or complaint on record, with which of them. */
export async function findSuppressed(
  store: Store,
  workspaceId: string,
  emails: readonly string[],
): Promise<Map<string, string>> {
  const rows = await store.read<{ email: string; reason: string }>(
    `select s.email, s.reason from unnest(${hiddenArray('$2::text[]')}) as asked (email) cross join lateral (
       select email, reason from suppressions where workspace_id = $1 and email = asked.email offset 0
     ) s`,
    [workspaceId, emails],
  );
  return new Map(rows.map(({ email, reason }) => [email, reason]));
}

/** Stores the content of a message's files. */
export async function insertFile(
  em: EntityManager,
  { workspaceId, id }: { workspaceId: string; id: string },
  { place, content }: { place: number; content: Buffer },
): Promise<void> {
  await query(
    em,
    'insert into message_attachments (workspace_id, message_id, place, content) values ($1, $2, $3, $4)',
    [workspaceId, id, place, content],
  );
}

/** The content of messages' files, in order; nothing for those whose files are gone. */
export async function readFiles(
  store: Store,
  workspaceId: string,
  ids: readonly string[],
): Promise<Map<string, Buffer[]>> {
  if (ids.length === 0) return new Map();
  const rows = await query<{ message_id: string; content: Buffer }>(
    store.fork(),
    `select message_id, content from message_attachments
     where message_id = any($2::uuid[]) and workspace_id = $1 order by message_id, place`,
    [workspaceId, ids],
  );
  const files = new Map<string, Buffer[]>();
  for (const { message_id: id, content } of rows)
    files.set(id, [...(files.get(id) ?? []), content]);
  return files;
}

/** The bodies of messages, as they are stored; nothing for those whose bodies are gone. */
export async function readBodies(
  store: Store,
  workspaceId: string,
  ids: readonly string[],
): Promise<Map<string, Buffer>> {
  if (ids.length === 0) return new Map();
  const rows = await query<{ message_id: string; body: Buffer }>(
    store.fork(),
    `select message_id, body from message_bodies
     where message_id = any($2::uuid[]) and workspace_id = $1`,
    [workspaceId, ids],
  );
  return new Map(rows.map((row) => [row.message_id, row.body]));
}
