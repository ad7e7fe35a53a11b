import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Client } from '@connectrpc/connect';
import type { HitSchema, TrackingService } from '#gen/postrider/messages/v1/messages_pb.ts';
import { GroupWriter } from '#lib/batching/group-writer.ts';
import { LruMap } from '#lib/collections/lru-map.ts';
import type { Log } from '#lib/log.ts';
import type { Authorization } from '#lib/rpc/client/transport.ts';

export type Hit = MessageInitShape<typeof HitSchema>;

export type Hits = {
  add(hit: Hit): void;
  /** Sends the waiting hits, and stops. */
  close(): Promise<void>;
};

const batchMax = 1_000;
const everyMs = 250;
// Some seconds of the busiest campaign while the messages service is down; further hits are not
// counted.
const waitingMax = 50_000;
const callTimeoutMs = 10_000;
/**
 * A hit that is the same as one of this time ago is not counted: no reader opens or clicks as
 * often.
 */
const sameMs = 1_000;
const recentMax = 20_000;

/**
 * Collects opens and clicks and sends them in batches, so that a reader never waits for the
 * database. If the process is killed, the hits of about a quarter of a second are lost.
 */
export function createHits(
  messages: Pick<Client<typeof TrackingService>, 'recordHits'>,
  { authorization, log }: { authorization: Authorization; log: Log },
) {
  // A group belongs to no request.
  const outside = AsyncLocalStorage.snapshot();
  const recent = new LruMap<true>({ max: recentMax, ttl: sameMs });
  let dropped = 0;
  const closing = new AbortController();
  /** Messages was away at the end: nothing that is left waits for it. */
  let hasGivenUp = false;

  const record = async (hits: readonly Hit[]): Promise<void> => {
    if (dropped > 0) log.warn({ dropped }, 'opens and clicks are not counted');
    dropped = 0;
    if (hasGivenUp) return;
    // The same until it is answered: the answer may be lost, and a repeat must not count again.
    const batch = { batchId: crypto.randomUUID(), hits: [...hits] };
    for (;;) {
      try {
        const headers = { authorization: await authorization() };
        await messages.recordHits(batch, { timeoutMs: callTimeoutMs, headers });
        return;
      } catch (error) {
        log.warn({ err: error, waiting: writer.unwritten }, 'opens and clicks wait');
        hasGivenUp = closing.signal.aborted;
        if (hasGivenUp) return;
        await sleep(everyMs, undefined, { signal: closing.signal }).catch(() => undefined);
      }
    }
  };
  const writer = new GroupWriter<Hit>({
    ...{ groupMax: batchMax, waitMaxMs: everyMs },
    write: record,
    refused: () => Promise.resolve(),
  });

  const hits: Hits = {
    add(hit) {
      const { workspaceId, token, link, isBot } = hit;
      const name = `${workspaceId} ${token} ${link} ${isBot}`;
      if (recent.has(name)) return;
      recent.set(name, true);
      if (writer.unwritten >= waitingMax) dropped += 1;
      else outside(() => writer.add(hit));
    },
    close() {
      closing.abort();
      return writer.flush();
    },
  };
  return hits;
}
