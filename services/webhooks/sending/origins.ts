import { LruMap } from '#lib/collections/lru-map.ts';
import type { ClaimedDelivery } from './claim.ts';
import type { EndpointLane } from './lane.ts';

/** Connections of all endpoints of a workspace at one origin. */
const openMax = 64;
const originsMax = 10_000;

/**
 * The open callbacks of a workspace to one origin. Endpoints that wait for a place are served in
 * turn.
 */
export class Origin {
  open = 0;
  readonly waiting = new Set<EndpointLane>();

  get isFull(): boolean {
    return this.open >= openMax;
  }
}

export class Origins {
  readonly #origins = new LruMap<Origin>({ max: originsMax });

  of({ url, key }: ClaimedDelivery): Origin {
    const name = `${key.workspaceId} ${new URL(url).origin}`;
    const known = this.#origins.get(name);
    if (known) return known;
    const origin = new Origin();
    this.#origins.set(name, origin);
    return origin;
  }
}
