import { LruMap } from '#lib/collections/lru-map.ts';

const firstMs = 5_000;
const mostMs = 60_000;
const entriesMax = 10_000;

type Wait = { untilMs: number; waitMs: number; reason: string };

/**
 * Integrations that take no mail at the moment: their messages stay in the queue for longer and
 * longer, a minute at most.
 */
export class Outages {
  readonly #outages = new LruMap<Wait>({ max: entriesMax });

  /** How long nothing is to be tried. */
  leftMs(workspaceId: string, integrationId: string): number {
    const outage = this.#outages.get(`${workspaceId} ${integrationId}`);
    return outage ? Math.max(0, outage.untilMs - Date.now()) : 0;
  }

  /** Why the integration took no mail when it was tried last; empty if it did. */
  reasonOf(workspaceId: string, integrationId: string): string {
    return this.#outages.get(`${workspaceId} ${integrationId}`)?.reason ?? '';
  }

  /**
   * It took no mail; gives how long to wait. A wait that has begun goes on: several that failed
   * together count as one. `endsAt`: when it will take mail, if anybody knows.
   */
  began(
    workspaceId: string,
    integrationId: string,
    { reason, endsAt }: { reason: string; endsAt?: Date | undefined },
  ): number {
    const leftMs = this.leftMs(workspaceId, integrationId);
    if (leftMs > 0) return leftMs;
    const key = `${workspaceId} ${integrationId}`;
    const before = this.#outages.get(key);
    const waitMs = Math.min(mostMs, before ? before.waitMs * 2 : firstMs);
    const untilMs = endsAt?.getTime() ?? Date.now() + waitMs;
    this.#outages.set(key, { untilMs, waitMs, reason });
    return Math.max(0, untilMs - Date.now());
  }

  ended(workspaceId: string, integrationId: string): void {
    this.#outages.delete(`${workspaceId} ${integrationId}`);
  }
}
