import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { eventIdSql, pendingSql } from '../delivery.ts';

/** What a workspace has in this service. Each count ends at a million, and the bytes are those of the events that were counted. */
export type WebhookUsage = {
  subscriptions: number;
  pendingDeliveries: number;
  /** Of the payloads of pending deliveries, each once however many deliveries share it. */
  pendingBytes: number;
  /** Payloads that are kept. */
  events: number;
};

const countMax = 1_000_000;
/** Reading sizes reads rows: beyond it the bytes are estimated from those that were read. */
const sizedMax = 10_000;

/** Counts what a workspace has, through indexes. */
export async function countUsage(em: EntityManager, workspaceId: string): Promise<WebhookUsage> {
  const [row] = await query<WebhookUsage>(
    em,
    `with pending as materialized (
       select id, payload from ${pendingSql('workspace_id = $1')} pending limit ${countMax}
     ),
     shared as materialized (
       select distinct ${eventIdSql('pending')} as id from pending where payload is null
     ),
     sized as materialized (
       select octet_length(event.payload::text) as bytes
       from (select id from shared limit ${sizedMax}) wanted
       cross join lateral (
         select payload from events where workspace_id = $1 and id = wanted.id offset 0
       ) event
     ),
     own as (
       select octet_length(payload::text) as bytes from pending where payload is not null limit ${sizedMax}
     )
     select
       (select count(*)::int from subscriptions where workspace_id = $1) as "subscriptions",
       (select count(*)::int from pending) as "pendingDeliveries",
       (coalesce((select avg(bytes) from sized), 0) * (select count(*) from shared)
         + coalesce((select avg(bytes) from own), 0) * (select count(*) from pending where payload is not null)
       )::float8 as "pendingBytes",
       (select count(*)::int from (select from events where workspace_id = $1 limit ${countMax}) kept) as "events"`,
    [workspaceId],
  );
  if (!row) throw new Error('no counts');
  return { ...row, pendingBytes: Math.round(row.pendingBytes) };
}
