import type { SubscriptionKey } from '../subscription.ts';
import type { ClaimedDelivery } from './claim.ts';
import type { Pool } from './pool.ts';
import { Window } from './windows.ts';

/** From this size on an endpoint is quick: as many deliveries as may be open are claimed ahead. */
const aheadFrom = 8;
/** More of one that answers so quickly that they are sent within this time: a claim is dear. */
const aheadMs = 50;
const aheadMax = 100;
/** Of the last answer in the mean. */
const weight = 0.1;

export type QueuedDelivery = { claimed: ClaimedDelivery; claimedAtMs: number; pool: Pool };

/** The first attempts of one endpoint: what is open, and what is claimed and waits for a place. */
export class EndpointLane {
  readonly window = new Window();
  open = 0;
  queue: QueuedDelivery[] = [];
  /** Places of deliveries that are being inserted as claimed. */
  reserved = 0;
  /** Whether there may be more to claim. */
  hasMore = false;
  /** Whether there is more since the claim began that is made now. */
  wasPoked = false;
  /** Whether its endpoint is being read again. */
  isReading = false;
  /** While the endpoint is paced: nothing is claimed before. */
  notBeforeMs = 0;
  /** By the clock of `performance`; what was read of the endpoint before does not hold. */
  recalledAtMs = Number.NEGATIVE_INFINITY;

  /** How long it takes to answer, as a mean that follows the last ones. */
  #answerMs = Number.POSITIVE_INFINITY;

  readonly key: SubscriptionKey;

  constructor(key: SubscriptionKey) {
    this.key = key;
  }

  /**
   * How many to claim. Zero while a quick endpoint has enough ahead, so that claims don't become
   * small.
   */
  get wants(): number {
    const { size } = this.window;
    const ahead = size >= aheadFrom ? Math.max(size, this.#soonSent(size)) : 0;
    if (this.queue.length > ahead / 2) return 0;
    return Math.max(0, size + ahead - this.open - this.queue.length - this.reserved);
  }

  answered(tookMs: number): void {
    const known = Number.isFinite(this.#answerMs) ? this.#answerMs : tookMs;
    this.#answerMs = known + weight * (tookMs - known);
  }

  #soonSent(size: number): number {
    return Math.min(aheadMax, Math.floor((size * aheadMs) / this.#answerMs));
  }
}
