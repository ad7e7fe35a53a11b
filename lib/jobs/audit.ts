/*
 * Entries of the audit log on their way to workspaces: a job of each transaction, which commits
 * with the changes, without a notice.
 *
 * A job that runs takes along up to a hundred small ones that wait, so that a second of changes is
 * one call. It holds them as a worker does: if the process dies, they are free after two minutes. A
 * call that fails with the entries of others is repeated without them, and a job that has failed by
 * itself goes alone: one bad entry stops no other. Workspaces takes an entry once, by its id.
 */

import { create, fromJson, type JsonValue, toJson } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { createClient, type Transport } from '@connectrpc/connect';
import type { JobHelpers, Task, TaskList } from 'graphile-worker';
import {
  AuditService,
  RecordAuditEntriesRequestSchema,
  type RecordedEntry,
  RecordedEntrySchema,
} from '#gen/postrider/workspaces/v1/audit_pb.ts';
import { currentTraceparent } from '#lib/telemetry/tracing.ts';
import { auditTask, insertAuditJob, schemaOf } from '../postgres/job-schema.ts';
import { query } from '../postgres/query.ts';
import type { AuditSink } from '../rpc/server/audit.ts';
import { attemptsMax } from './jobs.ts';
import { awayText, callPeer, isAwayNow } from './reachability.ts';

const peer = 'workspaces';
const othersMax = 100;
const otherMaxBytes = 8_192;
const otherMaxEntries = 2;
/** A call has at most 500. */
const ownMaxEntries = 300;

/** The sink of a service: a job sends the entries to the workspaces service within seconds. */
export function auditByJob(service: string): AuditSink {
  const insert = insertAuditJob(service, { payload: '$1::json', attemptsMax });
  return async (em, entries) => {
    const request = create(RecordAuditEntriesRequestSchema, {
      entries: entries.map(({ workspaceId, at, ...entry }) => ({
        workspaceId,
        entry: { ...entry, createdAt: timestampFromDate(at) },
      })),
    });
    const payload = Object(toJson(RecordAuditEntriesRequestSchema, request));
    await query(em, insert, [JSON.stringify({ ...payload, traceparent: currentTraceparent() })]);
  };
}

/** The tasks that send entries; they are repeated until the workspaces service has taken them. */
export function auditTasks(service: string, workspaces: Transport): TaskList {
  const client = createClient(AuditService, workspaces);
  const to = { service, peer };
  const send = (entries: RecordedEntry[], helpers: JobHelpers) =>
    callPeer({ ...to, helpers }, () => client.recordAuditEntries({ entries }));
  const sendTogether = async (own: RecordedEntry[], helpers: JobHelpers): Promise<boolean> => {
    const others = await takeOthers(service, helpers);
    if (!others) return false;
    try {
      await send([...own, ...others.payloads.flatMap(entriesOf)], helpers);
    } catch {
      await others.giveBack();
      return false;
    }
    await others.end();
    return true;
  };
  const forward: Task = async (payload, helpers) => {
    const own = entriesOf(payload as JsonValue);
    const isAlone = hasFailed(helpers) || own.length > ownMaxEntries || isAwayNow(to);
    if (isAlone || !(await sendTogether(own, helpers))) await send(own, helpers);
  };
  return {
    [auditTask]: forward,
    // Jobs of 0.2.0 have one entry each; it may go with the release after the next.
    forwardAudit: async (payload, helpers) => {
      await send([fromJson(RecordedEntrySchema, payload as JsonValue, known)], helpers);
    },
  };
}

/** By itself, and not since workspaces was away. */
const hasFailed = ({ job: { attempts, last_error } }: JobHelpers) =>
  attempts > 1 && !last_error?.startsWith(awayText(peer));

/** A job has its `traceparent` beside the entries. */
const known = { ignoreUnknownFields: true };
const entriesOf = (payload: JsonValue) =>
  fromJson(RecordAuditEntriesRequestSchema, payload, known).entries;

type Others = { payloads: JsonValue[]; end(): Promise<void>; giveBack(): Promise<void> };

/** Locks small jobs that wait and have not failed; undefined where there are none. */
async function takeOthers(
  service: string,
  { withPgClient }: JobHelpers,
): Promise<Others | undefined> {
  const jobs = `${schemaOf(service)}._private_jobs`;
  const worker = `audit-${crypto.randomUUID()}`;
  const { rows } = await withPgClient((client) =>
    client.query<{ id: string; payload: JsonValue }>(
      `update ${jobs} set locked_at = now(), locked_by = $1
       where id = any(array(${othersSql(service)})) returning id, payload`,
      [worker],
    ),
  );
  if (rows.length === 0) return undefined;
  const ids = rows.map(({ id }) => id);
  const ofThem = (change: string) => async () => {
    await withPgClient((client) =>
      client.query(`${change} where id = any($1::bigint[]) and locked_by = $2`, [ids, worker]),
    );
  };
  return {
    payloads: rows.map(({ payload }) => payload),
    end: ofThem(`delete from ${jobs}`),
    giveBack: ofThem(`update ${jobs} set locked_at = null, locked_by = null`),
  };
}

/** In the order of the library's index: however many wait, no more are read than are taken. */
export const othersSql = (service: string) => `
  select id from ${schemaOf(service)}._private_jobs
  where is_available and (attempts = 0 or last_error like '${awayText(peer)}%') and run_at <= now()
    and task_id = (select id from ${schemaOf(service)}._private_tasks where identifier = '${auditTask}')
    and octet_length(payload::text) <= ${otherMaxBytes}
    and json_array_length(payload->'entries') <= ${otherMaxEntries}
  order by priority, run_at limit ${othersMax} for update skip locked`;
