import { addJob, bulkPriority } from '#lib/jobs/jobs.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { type Effect, effectOf, type GivenReport, type ReportMatch } from './apply.ts';
import { sealedPurpose } from './keys.ts';
import { type Report, type ReportType, rawMaxBytes } from './report.ts';
import type { InboundRequest } from './requests.ts';
import { messagesMax } from './soft-bounces.ts';

/*
 * Reports wait in `inbound_reports` until they are applied. A request waits in `inbound_requests`
 * before; a mail that came back is stored here before it is answered.
 *
 * States: received (`due_at` is when it is applied), applied, unmatched, ignored, invalid. A report
 * about a message whose result is not recorded yet is looked at again for an hour, ever more
 * seldom. A row is unique by the workspace, the integration and the key of its report, so that a
 * repeat stores nothing.
 *
 * Order: stored, then applied by the job `applyReports`, one a workspace, so that workspaces take
 * turns. A report that is applied twice changes nothing (`apply.ts`). Rows are
 * locked before messages, by deletions of contacts, too.
 */

export const rawPlace = (id: string) => `report ${id}`;

const waitsForMs = 60 * 60_000;
const againAfterMinMs = 30_000;

/** The report as it came: JSON, or the beginning of a mail. */
export function openRaw(
  keyring: Keyring,
  { workspaceId, id, raw }: { workspaceId: string; id: string; raw: Buffer },
): string {
  return keyring.box(sealedPurpose, workspaceId).open(raw, rawPlace(id)).toString();
}

type StoredReport = { type: string; class: string; state: string };

/**
 * Stores the reports of a workspace's requests, and gives the states of those that were not known.
 * One that will not be applied keeps its address only if the workspace has a message to it: that of
 * a deleted contact must not return. One about a copy keeps no body: it may name the recipient,
 * whose deletion would not find it.
 */
export async function storeReports(
  em: EntityManager,
  keyring: Keyring,
  { workspaceId, requests }: { workspaceId: string; requests: readonly InboundRequest[] },
): Promise<StoredReport[]> {
  const box = keyring.box(sealedPurpose, workspaceId);
  const rows = uniqueByKey(requests).map(({ report, request }) => {
    const { source, receivedAt, types } = request;
    const { integrationId } = request.place;
    const row = { id: crypto.randomUUID(), integrationId, source, receivedAt };
    if ('isUnreadable' in report) return { ...nothing, ...row, key: report.key, state: 'invalid' };
    const raw = Buffer.from(report.raw);
    return {
      ...report,
      ...row,
      state: stateOf(report, types),
      raw: raw.length > 0 && raw.length <= rawMaxBytes ? box.seal(raw, rawPlace(row.id)) : null,
    };
  });
  const stored = await query<StoredReport>(
    em,
    `insert into inbound_reports (workspace_id, integration_id, source, received_at, id, event_key, state, type, class, effect,
       message_id, provider_id, email, occurred_at, category, diagnostic, complaint_type, raw, due_at)
     select $1, integration_id, source, received_at, id, event_key, state, type, class, effect, message_id, provider_id,
       case when keeps_email then email else '' end,
       least(coalesce(occurred_at, received_at), received_at), nullif(category, ''), nullif(diagnostic, ''),
       nullif(complaint_type, ''),
       case when keeps_raw then raw end,
       case when state = 'received' then received_at end
     from unnest($2::text[], $3::text[], $4::timestamptz[], $5::uuid[], $6::text[], $7::text[], $8::text[], $9::text[],
       $10::uuid[], $11::text[], $12::timestamptz[], $13::text[], $14::text[], $15::text[], $16::bytea[], $17::text[], $18::text[])
       as given (integration_id, source, received_at, id, event_key, state, type, class, message_id, email, occurred_at, category,
         diagnostic, complaint_type, raw, effect, provider_id)
     cross join lateral (
       select given.state = 'received' or exists (
         select from messages m where m.workspace_id = $1 and m.contact_email = given.email and m.contact_email <> ''
       ) as keeps_email
     ) known
     cross join lateral (
       select given.state = 'received' or (keeps_email and not exists (
         select from messages m where m.workspace_id = $1 and m.id = given.message_id and m.contact_email <> given.email
       )) as keeps_raw
     ) whole
     order by integration_id, event_key
     on conflict (workspace_id, integration_id, event_key) do nothing
     returning type, coalesce(class, '') as class, state`,
    [
      workspaceId,
      rows.map(({ integrationId }) => integrationId),
      rows.map(({ source }) => source),
      rows.map(({ receivedAt }) => receivedAt.toISOString()),
      rows.map(({ id }) => id),
      rows.map(({ key }) => key),
      rows.map(({ state }) => state),
      rows.map(({ type }) => type ?? ''),
      rows.map((row) => row.class ?? null),
      rows.map(({ messageId }) => messageId ?? null),
      rows.map(({ email }) => email),
      rows.map(({ at }) => at?.toISOString() ?? null),
      rows.map(({ category }) => category),
      rows.map(({ diagnostic }) => diagnostic),
      rows.map(({ complaintType }) => complaintType),
      rows.map(({ raw }) => raw),
      rows.map((row) => effectOf(row) ?? null),
      rows.map((row) => (row.messageId === undefined ? (row.providerId ?? null) : null)),
    ],
  );
  if (stored.some(({ state }) => state === 'received')) await addApplying(em, workspaceId);
  return stored;
}

const nothing: Omit<Report, 'key' | 'raw'> & { raw: null } = {
  ...{ type: undefined, class: undefined, email: '', at: undefined },
  ...{ messageId: undefined, providerId: undefined },
  ...{ category: '', diagnostic: '', complaintType: '', raw: null },
};

/** The first of each key: a statement must not insert one twice. */
function uniqueByKey(requests: readonly InboundRequest[]) {
  const all = requests.flatMap((request) => request.reports.map((report) => ({ report, request })));
  const keyed = all.map((each) => [`${each.request.place.integrationId} ${each.report.key}`, each]);
  return [...new Map(keyed.toReversed() as [string, (typeof all)[number]][]).values()];
}

function stateOf(report: Report, types: readonly ReportType[]): string {
  const { type, messageId, providerId } = report;
  if (type === undefined || effectOf(report) === undefined || !types.includes(type)) {
    return 'ignored';
  }
  return messageId === undefined && providerId === undefined ? 'unmatched' : 'received';
}

/**
 * The job that applies a workspace's reports; one that waits already is moved. A provider may send
 * very many, so jobs of all other kinds go first.
 */
export function addApplying(em: EntityManager, workspaceId: string, runAt?: Date): Promise<void> {
  const job = {
    ...{ task: 'applyReports', payload: { workspaceId } },
    ...{ key: `applyReports ${workspaceId}`, priority: bulkPriority },
  };
  return addJob(em, 'messages', runAt ? { ...job, runAt } : job);
}

type DueRow = {
  id: string;
  integration_id: string;
  type: ReportType;
  class: string | null;
  effect: Effect;
  message_id: string | null;
  email: string;
  occurred_at: string;
  received_at: string;
  diagnostic: string | null;
};

export type DueReport = GivenReport & { id: string; type: ReportType; receivedAt: Date };

/**
 * Locks the reports that are due, the oldest first. One that names a message by the provider's id
 * has no message until its result is recorded. It is found among those to the recipient, who has to
 * be the same anyway: an index of provider ids would make each result of a mail write all indexes.
 */
export async function takeDue(
  em: EntityManager,
  workspaceId: string,
  max: number,
): Promise<DueReport[]> {
  const rows = await query<DueRow>(
    em,
    `select id, integration_id, type, class, effect, coalesce(message_id, (
         select m.id from (
           select id, integration_id, provider_id from messages
           where workspace_id = $1 and contact_email = r.email and contact_email <> ''
           order by created_at desc limit ${messagesMax}
         ) m
         where m.integration_id = r.integration_id
           -- Providers write Message-IDs with brackets in one place and without them in another.
           and m.provider_id in (r.provider_id, '<' || r.provider_id || '>')
         limit 1
       )) as message_id, email, occurred_at, received_at, diagnostic
     from inbound_reports r where workspace_id = $1 and due_at <= now()
     order by due_at limit ${max} for update skip locked`,
    [workspaceId],
  );
  return rows.map((row) => ({
    ...{ id: row.id, type: row.type, effect: row.effect, email: row.email },
    messageId: row.message_id ?? undefined,
    integrationId: row.integration_id,
    receivedAt: new Date(row.received_at),
    at: new Date(row.occurred_at),
    class: row.class ?? undefined,
    diagnostic: row.diagnostic ?? '',
  }));
}

/** After as long again as the report has waited, so that many that wait cost few looks. */
function againAt(now: Date, waitedMs: number): string {
  const inMs = Math.max(againAfterMinMs, Math.min(waitedMs, waitsForMs - waitedMs));
  return new Date(now.getTime() + inMs).toISOString();
}

type SettledReport = { id: string; type: ReportType; class: string; state: string };

/**
 * Ends reports, by what was found of each. One whose message is not sent yet is looked at again,
 * for an hour. One about a message whose contact is deleted keeps no address, nor does one about a
 * mail that is none of ours, to an address that has no message. One about a copy keeps no body.
 */
export async function settle(
  em: EntityManager,
  workspaceId: string,
  given: { reports: readonly DueReport[]; verdicts: readonly ReportMatch[]; now: Date },
): Promise<SettledReport[]> {
  const { reports, verdicts, now } = given;
  const settled = reports.map(({ id, messageId, receivedAt, type, class: named = '' }, place) => {
    const verdict = verdicts[place] ?? 'unmatched';
    const waitedMs = now.getTime() - receivedAt.getTime();
    const mayWait = waitedMs < waitsForMs;
    const waits = verdict === 'waiting' && mayWait;
    return {
      id,
      type,
      class: named,
      state: waits ? 'received' : verdict === 'applied' ? 'applied' : 'unmatched',
      dueAt: waits ? againAt(now, waitedMs) : null,
      messageId,
      isForgotten: verdict === 'forgotten',
      isForeign: messageId === undefined && !waits,
    };
  });
  // The workspace is hidden from the planner, so that rows are found by their ids.
  await query(
    em,
    `update inbound_reports r set state = given.state, due_at = given.due_at,
       message_id = coalesce(r.message_id, given.message_id),
       email = case when is_forgotten then '' else r.email end,
       raw = case when is_forgotten or (given.state = 'unmatched' and exists (
         select from messages m where m.workspace_id = $1 and m.id = given.message_id and m.contact_email <> r.email
       )) then null else r.raw end
     from (
       select id, state, due_at, message_id, is_forgotten or (is_foreign and not exists (
         select from inbound_reports own join messages m on m.workspace_id = $1 and m.contact_email = own.email
         where own.workspace_id || '' = $1 and own.id = ended.id and own.email <> '' and m.contact_email <> ''
       )) as is_forgotten
       from unnest($2::uuid[], $3::text[], $4::timestamptz[], $5::bool[], $6::uuid[], $7::bool[])
         as ended (id, state, due_at, is_forgotten, message_id, is_foreign)
     ) as given
     where r.workspace_id || '' = $1 and r.id = given.id`,
    [
      workspaceId,
      settled.map(({ id }) => id),
      settled.map(({ state }) => state),
      settled.map(({ dueAt }) => dueAt),
      settled.map(({ isForgotten }) => isForgotten),
      settled.map((each) => each.messageId ?? null),
      settled.map(({ isForeign }) => isForeign),
    ],
  );
  return settled.filter(({ dueAt }) => dueAt === null);
}

/** When the next report of the workspace is due; at the earliest after a time from now. */
export async function nextDueAt(
  em: EntityManager,
  workspaceId: string,
  inMs: number,
): Promise<Date | undefined> {
  const [row] = await query<{ due_at: string }>(
    em,
    `select greatest(due_at, now() + $2::int * interval '1 millisecond') as due_at
     from inbound_reports where workspace_id = $1 and due_at is not null
     order by inbound_reports.due_at limit 1`,
    [workspaceId, inMs],
  );
  return row && new Date(row.due_at);
}
