import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { addJob, attemptsMax, bulkPriority } from '#lib/jobs/jobs.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import { schemaOf } from '#lib/postgres/job-schema.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { type ReportPlace, sealedPurpose } from './keys.ts';
import { type Report, type ReportType, UnreadableBody, type UnreadableReport } from './report.ts';

/*
 * A request of a provider waits in `inbound_requests` from its answer until the job `storeReports`
 * puts its reports into `inbound_reports`. A row holds all reports of a request, so that a storm
 * costs little before it is answered, and the rest of its work waits while mail is sent.
 *
 * States: waiting, gone, failed (`failed_at`): one that cannot be read, or whose reports the
 * database refuses, stays for 30 days and holds up no other.
 */

export type InboundRequest = {
  place: ReportPlace;
  /** The kind of the provider. */
  source: string;
  receivedAt: Date;
  /** Of the reports that count; others are stored as ignored. */
  types: readonly ReportType[];
  reports: readonly (Report | UnreadableReport)[];
};

export const requestPlace = (id: string) => `request ${id}`;

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);
/** Higher levels take more time and save little. */
const level = 3;
/** Of the JSON of a request: far more than the reports of a body, which has at most 1 MiB. */
const textMaxBytes = 16 * 1_024 * 1_024;

/** A request as it is stored. */
export type SealedRequest = {
  place: ReportPlace;
  id: string;
  source: string;
  receivedAt: Date;
  count: number;
  /** Of its text. */
  bytes: number;
  content: Buffer;
};

/** The reports of a request as they are stored. Throws `UnreadableBody` for too many. */
export function requestText({ types, reports }: InboundRequest): Buffer {
  const text = Buffer.from(JSON.stringify({ types, reports }));
  if (text.length > textMaxBytes) throw new UnreadableBody();
  return text;
}

export async function sealRequest(
  keyring: Keyring,
  { place, source, receivedAt, reports }: InboundRequest,
  text: Buffer,
): Promise<SealedRequest> {
  const id = crypto.randomUUID();
  const box = keyring.box(sealedPurpose, place.workspaceId);
  const content = box.seal(await deflate(text, { level }), requestPlace(id));
  const [count, bytes] = [reports.length, text.length];
  return { place, id, source, receivedAt, count, bytes, content };
}

/**
 * Stores requests of any workspaces, with a job for each workspace, in one statement, since it is
 * all that an answer waits for.
 */
export async function insertRequests(
  em: EntityManager,
  requests: readonly SealedRequest[],
  runAt: Date | undefined,
): Promise<void> {
  const workspaces = new Set(requests.map(({ place }) => place.workspaceId));
  await query(
    em,
    `with stored as (
       insert into inbound_requests (workspace_id, integration_id, id, source, received_at, reports, bytes, content)
       select * from unnest($1::text[], $2::text[], $3::uuid[], $4::text[], $5::timestamptz[], $6::int[], $7::int[], $8::bytea[])
     )
     select ${schemaOf('messages')}.add_job('${storingTask}', json_build_object('workspaceId', workspace_id),
       job_key := '${storingTask} ' || workspace_id, run_at := $10::timestamptz, priority := ${bulkPriority},
       max_attempts := ${attemptsMax}, job_key_mode := $11)
     from unnest($9::text[]) workspace_id`,
    [
      requests.map(({ place }) => place.workspaceId),
      requests.map(({ place }) => place.integrationId),
      requests.map(({ id }) => id),
      requests.map(({ source }) => source),
      requests.map(({ receivedAt }) => receivedAt.toISOString()),
      requests.map(({ count }) => count),
      requests.map(({ bytes }) => bytes),
      requests.map(({ content }) => content),
      // Jobs are locked in one order, so that two groups do not wait for each other.
      [...workspaces].sort(),
      runAt?.toISOString() ?? null,
      // A process that rests puts off no job of one that does not.
      runAt ? 'preserve_run_at' : 'replace',
    ],
  );
}

const storingTask = 'storeReports';

/** The job that stores a workspace's reports; one that waits already is moved. */
export function addStoring(em: EntityManager, workspaceId: string, runAt?: Date): Promise<void> {
  const job = {
    ...{ task: storingTask, payload: { workspaceId } },
    ...{ key: `${storingTask} ${workspaceId}`, priority: bulkPriority },
  };
  return addJob(em, 'messages', runAt ? { ...job, runAt } : job);
}

export type WaitingRequest = Omit<SealedRequest, 'count' | 'bytes'>;

/** Locks the oldest requests of a workspace, one at least, within bounds of all together. */
export async function lockRequests(
  em: EntityManager,
  workspaceId: string,
  { reportsMax, bytesMax }: { reportsMax: number; bytesMax: number },
): Promise<WaitingRequest[]> {
  const rows = await query<{
    id: string;
    integration_id: string;
    source: string;
    received_at: string;
    content: Buffer;
  }>(
    em,
    `with oldest as materialized (
       select id, received_at, reports, bytes from inbound_requests
       where workspace_id = $1 and failed_at is null
       order by received_at limit $2 for update skip locked
     ), first as (
       select id, row_number() over oldest_first as place, sum(reports) over oldest_first - reports as reports_before,
         sum(bytes) over oldest_first as bytes
       from oldest window oldest_first as (order by received_at, id)
     )
     select r.id, integration_id, source, received_at, content
     from first join inbound_requests r on r.id = first.id and r.workspace_id || '' = $1
     where place = 1 or (reports_before < $2 and first.bytes <= $3) order by place`,
    [workspaceId, reportsMax, bytesMax],
  );
  return rows.map((row) => ({
    ...{ id: row.id, source: row.source, content: row.content },
    place: { workspaceId, integrationId: row.integration_id },
    receivedAt: new Date(row.received_at),
  }));
}

/** Fails for one that was changed, or whose key is gone. */
export async function openRequest(
  keyring: Keyring,
  { place, id, source, receivedAt, content }: WaitingRequest,
): Promise<InboundRequest> {
  const opened = await keyring.openBox(sealedPurpose, place.workspaceId, content, requestPlace(id));
  const text = await inflate(opened, { maxOutputLength: textMaxBytes });
  const { types, reports } = JSON.parse(text.toString()) as StoredReports;
  const withTimes = reports.map((report) =>
    'isUnreadable' in report
      ? report
      : { ...report, at: report.at === undefined ? undefined : new Date(report.at) },
  );
  return { place, source, receivedAt, types, reports: withTimes };
}

/** As JSON has it: without what is undefined. */
type StoredReports = {
  types: ReportType[];
  reports: ((Omit<Report, 'at'> & { at?: string }) | UnreadableReport)[];
};

/** Ends requests: those that are stored are deleted. */
export async function endRequests(
  em: EntityManager,
  workspaceId: string,
  { stored, failed }: { stored: readonly string[]; failed: readonly string[] },
): Promise<void> {
  // The workspace is hidden from the planner, so that rows are found by their ids.
  const ended = `workspace_id || '' = $1 and id = any($2::uuid[])`;
  if (stored.length > 0) {
    await query(em, `delete from inbound_requests where ${ended}`, [workspaceId, stored]);
  }
  if (failed.length > 0) {
    const fail = `update inbound_requests set failed_at = now() where ${ended}`;
    await query(em, fail, [workspaceId, failed]);
  }
}

export async function hasRequests(em: EntityManager, workspaceId: string): Promise<boolean> {
  const rows = await query(
    em,
    'select from inbound_requests where workspace_id = $1 and failed_at is null limit 1',
    [workspaceId],
  );
  return rows.length > 0;
}
