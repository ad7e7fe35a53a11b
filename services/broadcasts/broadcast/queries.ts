import type { ConnectError } from '@connectrpc/connect';
import { LockMode } from '@mikro-orm/core';
import { refusal } from '#lib/errors/reasons.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { Broadcast, type BroadcastKey } from './broadcast.ts';

export function broadcastNotFound(): ConnectError {
  return refusal('BROADCAST_NOT_FOUND', 'Broadcast not found');
}

export function broadcastChanged(): ConnectError {
  return refusal('CHANGED_MEANWHILE', 'the broadcast was changed at the same time; try again');
}

const whereKey = ({ workspaceId, id }: BroadcastKey) => ({ workspace_id: workspaceId, id });
const locked = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
const orNotFound = { failHandler: broadcastNotFound };

/** The row, locked until the transaction ends. */
export function lockBroadcast(em: EntityManager, key: BroadcastKey): Promise<Broadcast> {
  return em.findOneOrFail(Broadcast, whereKey(key), { ...locked, ...orNotFound });
}

/** The row, locked until the transaction ends; null where the broadcast was deleted. */
export function lockIfThere(em: EntityManager, key: BroadcastKey): Promise<Broadcast | null> {
  return em.findOne(Broadcast, whereKey(key), locked);
}

export function findIfThere(em: EntityManager, key: BroadcastKey): Promise<Broadcast | null> {
  return em.findOne(Broadcast, whereKey(key));
}

export function findBroadcast(em: EntityManager, key: BroadcastKey): Promise<Broadcast> {
  return em.findOneOrFail(Broadcast, whereKey(key), orNotFound);
}

export type RecipientCounts = {
  sent: number;
  failed: number;
  skipped: number;
  deferred: number;
  unknown: number;
};

export const noCounts: RecipientCounts = {
  sent: 0,
  failed: 0,
  skipped: 0,
  deferred: 0,
  unknown: 0,
};

/** The recipients of each broadcast by outcome: sums over its slices. */
export async function countsOf(
  em: EntityManager,
  workspaceId: string,
  ids: readonly string[],
): Promise<(id: string) => RecipientCounts> {
  const rows = await query<RecipientCounts & { broadcast_id: string }>(
    em,
    `select broadcast_id, sum(sent)::int as sent, sum(failed)::int as failed,
            sum(skipped)::int as skipped, sum(deferred)::int as deferred, sum(unknown)::int as unknown
     from slices where workspace_id = $1 and broadcast_id = any($2::text[])
     group by broadcast_id`,
    [workspaceId, ids],
  );
  const byId = new Map(rows.map((row) => [row.broadcast_id, row]));
  return (id) => byId.get(id) ?? noCounts;
}

/**
 * When the oldest slice that is begun and not done was begun. A process of the release before
 * `begun_at` leaves it empty; such a slice counts as begun with its broadcast.
 */
export async function oldestBegun(
  em: EntityManager,
  { workspaceId, id }: BroadcastKey,
): Promise<Date | undefined> {
  const [row] = await query<{ at: string | null }>(
    em,
    `select min(coalesce(s.begun_at, b.started_at)) as at
     from slices s join broadcasts b on b.workspace_id = s.workspace_id and b.id = s.broadcast_id
     where s.workspace_id = $1 and s.broadcast_id = $2 and s.done_at is null
       and (s.begun_at is not null or s.settle_at is not null or s.answered > 0 or s.sent > 0)`,
    [workspaceId, id],
  );
  return row?.at ? new Date(row.at) : undefined;
}

/** Whether the counts contain everything that was started. */
export async function isCounted(
  em: EntityManager,
  { workspaceId, id }: BroadcastKey,
): Promise<boolean> {
  const open = await query(
    em,
    `select from slices where workspace_id = $1 and broadcast_id = $2 and settle_at is not null
     limit 1`,
    [workspaceId, id],
  );
  return open.length === 0;
}
