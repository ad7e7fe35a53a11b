import { addJob } from '#lib/jobs/jobs.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { addressSql } from './address.ts';

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
  const key = `erase ${payload.workspaceId} ${payload.email}`;
  await addJob(em, 'webhooks', { task: 'erasePerson', payload, key, runAt });
}

/** What happened later is about somebody who has come back. */
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

/** Deletes some deliveries about an address; returns how many. */
export async function deleteDeliveries(
  em: EntityManager,
  { all, ...erasure }: Part,
  rowsMax: number,
): Promise<number> {
  const [row] = await query<{ count: number }>(
    em,
    `with gone as (
       delete from deliveries where workspace_id = $1 and id = any(array(
         select id from deliveries delivery
         where workspace_id = $1 and ${addressSql('delivery')} = $2 and ${isBefore} and (status <> 'pending' or $4)
         limit ${rowsMax}
       )) returning 1
     )
     select count(*)::int as count from gone`,
    [...valuesOf(erasure), all],
  );
  return row?.count ?? 0;
}

/** Whether any is left to be sent. */
export async function hasPending(em: EntityManager, erasure: Erasure): Promise<boolean> {
  const [row] = await query<{ found: boolean }>(
    em,
    `select exists (
       select from deliveries delivery
       where workspace_id = $1 and ${addressSql('delivery')} = $2 and ${isBefore}
     ) as found`,
    valuesOf(erasure),
  );
  return row?.found ?? false;
}
