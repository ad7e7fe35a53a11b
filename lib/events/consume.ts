import { ConnectError, type ServiceImpl } from '@connectrpc/connect';
import type {
  ConsumeEventsRequest,
  EventBatch,
  EventConsumerService,
} from '#gen/postrider/events/v1/events_pb.ts';
import type { Log } from '../log.ts';
import { query } from '../postgres/query.ts';
import type { EntityManager, Store } from '../postgres/store.ts';
import { byWorkspace } from './by-workspace.ts';

/** Part of every store that consumes events. */
export const consumedTable = `
  create table consumed_batches (
    batch_id uuid primary key,
    consumed_at timestamptz not null default now()
  )`;

/**
 * SQL that records batch ids, a parameter that is an array, and gives those that were not seen
 * before. In one order, so that calls with the same batches never wait in a circle.
 */
export function consumedStep(batchIds: string): string {
  return `insert into consumed_batches (batch_id) select id from unnest(${batchIds}::uuid[]) id order by id
    on conflict do nothing returning batch_id`;
}

const consumedSql = consumedStep('$1');

/** A batch, as both RPCs bring it. */
export type ConsumedBatch = Pick<ConsumeEventsRequest, 'workspaceId' | 'batchId' | 'events'>;

/** Applies a batch and records its id in one transaction, so that repeats do nothing. */
export async function consumeOnce(
  store: Store,
  { batchId }: Pick<ConsumedBatch, 'batchId'>,
  apply: (em: EntityManager) => Promise<void>,
): Promise<void> {
  await store.fork().transactional(async (em) => {
    const fresh = await query(em, consumedSql, [[batchId]]);
    if (fresh.length > 0) await apply(em);
  });
}

/**
 * The result of a batch of a group, and the milliseconds that it took by itself; `isAlone` where
 * the error is that it has to come by itself.
 */
export type ConsumedResult = { error?: unknown; tookMs: number; isAlone?: true };

type ConsumeBatches = ServiceImpl<typeof EventConsumerService>['consumeEventBatches'];

/**
 * The RPC of a consumer that applies each batch in a transaction of its own: locks that batches
 * take, and work that they make, would be those of all.
 */
export function consumeBatchByBatch(
  log: Pick<Log, 'warn'>,
  consume: (batch: ConsumedBatch) => Promise<unknown>,
): ConsumeBatches {
  return consumeBatches(log, (batches) =>
    byWorkspace(batches, async (batch) => {
      const startedAtMs = performance.now();
      const error = await consume(batch).then(
        () => undefined,
        (reason) => reason ?? new Error('unknown'),
      );
      return { error, tookMs: performance.now() - startedAtMs };
    }),
  );
}

/** The RPC of a consumer that has a result for each batch, in their order. */
export function consumeBatches(
  log: Pick<Log, 'warn'>,
  apply: (batches: readonly EventBatch[]) => Promise<readonly ConsumedResult[]>,
): ConsumeBatches {
  return async ({ batches }) => {
    const results = await apply(batches);
    const [first] = results;
    // An error of all batches is no fault of theirs, such as a database that is away.
    const isFailed = results.every(({ error, isAlone }) => error && !isAlone);
    if (first?.error && isFailed) throw first.error;
    const outcomes = results.map(({ error, tookMs, isAlone = false }, place) => {
      const { workspaceId = '', batchId = '' } = batches[place] ?? {};
      return {
        error: error ? textOf(log, error, { workspaceId, batchId }) : '',
        tookMs: Math.round(tookMs),
        alone: isAlone,
      };
    });
    return { outcomes };
  };
}

/** The text of an unexpected error is logged and not answered: it may hold personal data. */
function textOf(log: Pick<Log, 'warn'>, error: unknown, names: object): string {
  if (error instanceof ConnectError) return error.message;
  log.warn({ err: error, ...names }, 'a batch of events could not be applied');
  return '[internal] internal error';
}
