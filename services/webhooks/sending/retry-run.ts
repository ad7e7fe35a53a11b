import { setTimeout as sleep } from 'node:timers/promises';
import type { SubscriptionKey } from '../subscription.ts';
import { attempt, type SendingContext } from './attempt.ts';
import { type ClaimedDelivery, claimDue, type EndpointClaim, giveBack } from './claim.ts';
import { Window } from './windows.ts';

const placesEveryMs = 100;

export type DeliverOptions = {
  until: Date;
  /** Ends it early: nothing more is claimed, what is open is waited for. */
  signal: AbortSignal;
  /** Called at least every ten seconds while callbacks are open. */
  heartbeat: () => void;
};

/** One run through the retries of an endpoint. */
export class RetryRun {
  readonly #context: SendingContext;
  readonly #key: SubscriptionKey;
  readonly #options: DeliverOptions;
  readonly #window = new Window();
  readonly #open = new Set<Promise<void>>();
  readonly #unstored = new Set<Promise<void>>();

  constructor(context: SendingContext, key: SubscriptionKey, options: DeliverOptions) {
    this.#context = context;
    this.#key = key;
    this.#options = options;
  }

  /** Claims and sends; false when there is nothing more to do. */
  async step(): Promise<boolean> {
    const { now, recorder } = this.#context;
    if (this.#options.signal.aborted || now() >= this.#options.until) return false;
    if (recorder.isBehind) await recorder.flush();
    const room = this.#context.retryPlaces.roomOf(this.#key.workspaceId);
    if (room <= 0 && this.#open.size === 0) return this.#waitForPlaces();
    const claim = await this.#claim(Math.min(this.#window.size - this.#open.size, room));
    // Half a window at a time, so that claims don't become small.
    while (this.#open.size > this.#window.size / 2) {
      await Promise.race(this.#open);
      this.#options.heartbeat();
    }
    if ((claim?.deliveries.length ?? 0) > 0) return true;
    if (this.#open.size > 0) {
      await Promise.race(this.#open);
      return true;
    }
    return this.#waitForMore(claim?.waitMs ?? 0);
  }

  /**
   * Claims and sends. Places are taken first, since other runs of the workspace claim meanwhile.
   */
  async #claim(slots: number): Promise<EndpointClaim | undefined> {
    if (slots <= 0) return undefined;
    const { store, databaseTime, retryPlaces } = this.#context;
    const { workspaceId } = this.#key;
    retryPlaces.take(workspaceId, slots);
    let sent = 0;
    try {
      const asks = [{ key: this.#key, slots }];
      const [claim] = await claimDue(store, 'retry', asks, databaseTime());
      for (const delivery of await this.#current(claim?.deliveries ?? [])) {
        this.#send(delivery);
        sent += 1;
      }
      return claim;
    } finally {
      retryPlaces.release(workspaceId, slots - sent);
    }
  }

  /** While other endpoints of the workspace have all its places. */
  async #waitForPlaces(): Promise<boolean> {
    await sleep(placesEveryMs, undefined, { signal: this.#options.signal }).catch(() => {});
    this.#options.heartbeat();
    return true;
  }

  async end(): Promise<void> {
    while (this.#open.size > 0) {
      await Promise.race(this.#open);
      this.#options.heartbeat();
    }
    await Promise.all(this.#unstored);
  }

  /**
   * A result that is stored may have closed the circuit; while the endpoint is paced there is more
   * in a moment.
   */
  async #waitForMore(waitMs: number): Promise<boolean> {
    if (this.#unstored.size > 0) {
      await Promise.all(this.#unstored);
      return true;
    }
    if (waitMs <= 0) return false;
    await sleep(waitMs, undefined, { signal: this.#options.signal }).catch(() => {});
    return true;
  }

  /** Gives back what a slow claim brings too late to begin. */
  async #current(claimed: readonly ClaimedDelivery[]): Promise<readonly ClaimedDelivery[]> {
    if (claimed.every(({ beginByMs }) => beginByMs >= performance.now())) return claimed;
    await giveBack(this.#context.store, claimed, this.#context.databaseTime());
    return [];
  }

  #send(delivery: Parameters<typeof attempt>[1]): void {
    const sent = attempt(this.#context, delivery).then(async ({ isSuccess, stored }) => {
      this.#context.retryPlaces.release(this.#key.workspaceId);
      if (isSuccess) this.#window.succeeded();
      else this.#window.failed();
      this.#unstored.add(stored);
      void stored.then(() => this.#unstored.delete(stored));
      // The next claim sees the failure, and stops when the circuit is open.
      if (!isSuccess) await stored;
      this.#open.delete(sent);
    });
    this.#open.add(sent);
  }
}
