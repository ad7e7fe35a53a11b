import type { ConsumeEventsRequest } from '#gen/postrider/events/v1/events_pb.ts';
import { query } from '../postgres/query.ts';
import type { EntityManager, Store } from '../postgres/store.ts';

/** Part of every store that consumes events. */
export const consumedTable = `
  create table consumed_batches (
    batch_id uuid primary key,
    consumed_at timestamptz not null default now()
  )`;

/**
 * SQL that records a batch id, a parameter, and gives one row; none for a batch that was seen
 * before.
 */
export function consumedStep(batchId: string): string {
  return `insert into consumed_batches (batch_id) values (${batchId}) on conflict do nothing returning 1`;
}

/** Applies a batch and records its id in one transaction, so that repeats do nothing. */
export async function consumeOnce(
  store: Store,
  request: ConsumeEventsRequest,
  apply: (em: EntityManager) => Promise<void>,
): Promise<void> {
  await store.fork().transactional(async (em) => {
    const fresh = await query(em, consumedStep('$1'), [request.batchId]);
    if (fresh.length > 0) await apply(em);
  });
}
