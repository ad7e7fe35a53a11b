import { addJob } from '#lib/jobs/jobs.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { addressSql } from './address.ts';

/** A contact that was deleted. */
export type Erasure = {
  workspaceId: string;
  email: string;
  /** In Unix milliseconds, when this service was told. */
  sinceMs: number;
};

/** Queues a step of an erasure. */
export async function addErasure(em: EntityManager, payload: Erasure, inMs: number): Promise<void> {
  const runAt = new Date(Date.now() + inMs);
  const key = `erase ${payload.workspaceId} ${payload.email}`;
  await addJob(em, 'webhooks', { task: 'erasePerson', payload, key, runAt });
}

type Part = Erasure & {
  /** Later deliveries are about somebody who has come back. */
  until: Date;
  /** Also those that are still to be sent. */
  all: boolean;
};

/** Deletes some deliveries about an address; returns how many. */
export async function deleteDeliveries(
  em: EntityManager,
  { workspaceId, email, until, all }: Part,
  rowsMax: number,
): Promise<number> {
  const [row] = await query<{ count: number }>(
    em,
    `with gone as (
       delete from deliveries where workspace_id = $1 and id = any(array(
         select id from deliveries delivery
         where workspace_id = $1 and ${addressSql('delivery')} = $2 and created_at < $3 and (status <> 'pending' or $4)
         limit ${rowsMax}
       )) returning 1
     )
     select count(*)::int as count from gone`,
    [workspaceId, email, until, all],
  );
  return row?.count ?? 0;
}

/** Whether any is left to be sent. */
export async function hasPending(
  em: EntityManager,
  { workspaceId, email, until }: Pick<Part, 'workspaceId' | 'email' | 'until'>,
): Promise<boolean> {
  const [row] = await query<{ found: boolean }>(
    em,
    `select exists (
       select from deliveries delivery
       where workspace_id = $1 and ${addressSql('delivery')} = $2 and created_at < $3
     ) as found`,
    [workspaceId, email, until],
  );
  return row?.found ?? false;
}
