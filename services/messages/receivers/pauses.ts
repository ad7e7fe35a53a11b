import { createCache } from '#lib/cache.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager, Store } from '#lib/postgres/store.ts';
import type { IntegrationKey } from './rate.ts';

/** A group of receivers that an owner has paused. */
export type Pause = { receiver: string; endsAt: Date; pausedAt: Date };

type ReceiverKey = IntegrationKey & { receiver: string };

/** Of an integration. More than that are too many to be paused one by one. */
export const pausesMax = 100;

const keptMs = 2_000;
const integrationsMax = 1_000;

/** Reads the ends of pauses by group, at most two seconds old. */
export function pauseReader(store: Store) {
  const pauses = createCache<ReadonlyMap<string, Date>>({
    entriesMax: integrationsMax,
    keepMs: keptMs,
  });
  return (key: IntegrationKey) =>
    pauses(`${key.workspaceId} ${key.integrationId}`, async () => {
      const found = await listPauses(store.fork(), key);
      return new Map(found.map(({ receiver, endsAt }) => [receiver, endsAt]));
    });
}

/** The groups that are paused now, by name. */
export async function listPauses(
  em: EntityManager,
  { workspaceId, integrationId }: IntegrationKey,
): Promise<Pause[]> {
  const rows = await query<{ receiver: string; ends_at: string; paused_at: string }>(
    em,
    `select receiver, ends_at, paused_at from receiver_pauses
     where workspace_id = $1 and integration_id = $2 and ends_at > now()
     order by receiver collate "C" limit ${pausesMax}`,
    [workspaceId, integrationId],
  );
  return rows.map(({ receiver, ends_at, paused_at }) => ({
    ...{ receiver, endsAt: new Date(ends_at), pausedAt: new Date(paused_at) },
  }));
}

/** Pauses a group; false if too many of the integration are paused. Pauses that are over go. */
export async function pause(
  em: EntityManager,
  { workspaceId, integrationId, receiver }: ReceiverKey,
  { endsAt, at }: { endsAt: Date; at: Date },
): Promise<boolean> {
  // Two calls at once must not both find room for the last one.
  await query(em, 'select pg_advisory_xact_lock(hashtextextended($1, 0))', [
    `receiver pauses ${workspaceId} ${integrationId}`,
  ]);
  const key = [workspaceId, integrationId];
  await query(
    em,
    'delete from receiver_pauses where workspace_id = $1 and integration_id = $2 and ends_at <= now()',
    key,
  );
  const rows = await query(
    em,
    `insert into receiver_pauses (workspace_id, integration_id, receiver, ends_at, paused_at)
     select $1, $2, $3, $4, $5
     where (
       select count(*) from receiver_pauses
       where workspace_id = $1 and integration_id = $2 and receiver <> $3
     ) < ${pausesMax}
     on conflict (workspace_id, integration_id, receiver)
       do update set ends_at = excluded.ends_at, paused_at = excluded.paused_at
     returning receiver`,
    [...key, receiver, endsAt, at],
  );
  return rows.length > 0;
}

/** Ends the pause of a group, if it has one. */
export async function resume(
  em: EntityManager,
  { workspaceId, integrationId, receiver }: ReceiverKey,
): Promise<void> {
  await query(
    em,
    'delete from receiver_pauses where workspace_id = $1 and integration_id = $2 and receiver = $3',
    [workspaceId, integrationId, receiver],
  );
}
