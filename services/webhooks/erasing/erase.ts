import { addJob, attemptsMax, bulkPriority } from '#lib/jobs/jobs.ts';
import { schemaOf } from '#lib/postgres/job-schema.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { deleteDeliveries, deleteStrayEvents } from '../matching/delete-deliveries.ts';
import { aboutAddressSql, addressSql } from './address.ts';

/** A contact that was deleted. */
export type Erasure = {
  workspaceId: string;
  email: string;
  /** In Unix milliseconds, when it was deleted. */
  sinceMs: number;
  /** The same in RFC 3339, to the microsecond; absent in jobs of version 0.2. */
  at?: string;
};

/** Queues a step of an erasure. */
export async function addErasure(em: EntityManager, payload: Erasure, inMs: number): Promise<void> {
  const runAt = new Date(Date.now() + inMs);
  const job = { task: 'erasePerson', payload, key: keyOf(payload), priority: bulkPriority };
  await addJob(em, 'webhooks', { ...job, runAt });
}

/**
 * Queues the first steps of erasures, in one statement. A tenant may delete all contacts at once,
 * so that other jobs go first.
 */
export async function addErasures(em: EntityManager, erasures: readonly Erasure[]): Promise<void> {
  if (erasures.length === 0) return;
  await query(
    em,
    `select ${schemaOf('webhooks')}.add_job('erasePerson', payload, job_key := key, priority := ${bulkPriority},
       max_attempts := ${attemptsMax})
     from unnest($1::json[], $2::text[]) as erasure (payload, key)`,
    [erasures.map((each) => JSON.stringify(each)), erasures.map(keyOf)],
  );
}

const keyOf = ({ workspaceId, email }: Erasure) => `erase ${workspaceId} ${email}`;

/** Later events are about a contact that has come back. */
const isBefore = 'coalesce(occurred_at, created_at) <= $3::timestamptz';

const valuesOf = ({ workspaceId, email, sinceMs, at }: Erasure) => [
  workspaceId,
  email,
  at ?? new Date(sinceMs).toISOString(),
];

type Part = Erasure & {
  /** Also those that are still to be sent. */
  all: boolean;
};

/** SQL of the ids of some deliveries about an address. */
const chosen = (condition: string, rowsMax: number) =>
  `select id from (${aboutAddressSql('$1', '$2')}) delivery where ${isBefore} and ${condition} limit ${rowsMax}`;

/** Deletes some deliveries about an address; returns how many. */
export async function deleteAbout(
  em: EntityManager,
  { all, ...erasure }: Part,
  rowsMax: number,
): Promise<number> {
  const condition = "(status not in ('pending', 'waiting') or $4)";
  return deleteDeliveries(em, chosen(condition, rowsMax), [...valuesOf(erasure), all]);
}

/** Deletes events about an address that have no delivery any more. */
export async function deleteStray(
  em: EntityManager,
  { workspaceId, email }: Erasure,
): Promise<void> {
  const about = `select id from events event where workspace_id = $1 and ${addressSql('event')} = $2`;
  await deleteStrayEvents(em, about, [workspaceId, email]);
}

/** Whether any is left to be sent. */
export async function hasPending(em: EntityManager, erasure: Erasure): Promise<boolean> {
  const [row] = await query<{ found: boolean }>(
    em,
    `select exists (${chosen('true', 1)}) as found`,
    valuesOf(erasure),
  );
  return row?.found ?? false;
}
