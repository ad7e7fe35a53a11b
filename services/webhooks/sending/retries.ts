import type { SubscriptionKey } from '../subscription.ts';
import type { SendingContext } from './attempt.ts';

/** The deliveries of a subscription as its run shows them. Times are Unix milliseconds. */
export type Retries = {
  name: string;
  host: string;
  enabled: boolean;
  /** All that are neither delivered nor given up. */
  pending: number;
  /** Those of them that have failed and wait; first attempts that are open now are none. */
  retries: number;
  /** When the run has to look next: the earliest retry, or the probe while the circuit is open. Null if there is none. */
  nextDueAt: number | null;
  /** When one delivery is tried although the circuit is open; null while it is closed. */
  probeAt: number | null;
  /** Without address; null if the last attempt succeeded. */
  lastError: string | null;
};

/** Reads the state, and notes when the run looks next, so that it is woken only for what is due earlier. Undefined if the subscription is gone. */
export function readRetries(
  context: Pick<SendingContext, 'store' | 'now'>,
  key: SubscriptionKey,
): Promise<Retries | undefined> {
  throw new Error(`not built ${context} ${key}`);
}

/** Ends the run of a subscription in its row if no retry is left; false if one is. True as well for one that is gone. */
export function finishRetries(
  context: Pick<SendingContext, 'store' | 'now'>,
  key: SubscriptionKey,
): Promise<boolean> {
  throw new Error(`not built ${context} ${key}`);
}

export type DeliverOptions = {
  until: Date;
  /** Ends it early: nothing more is claimed, what is open is waited for. */
  signal: AbortSignal;
  heartbeat: () => void;
};

/** Sends the retries that are due, until none is, or the time is over. While the circuit is open that is one probe. */
export function deliverRetries(
  context: SendingContext,
  key: SubscriptionKey,
  options: DeliverOptions,
): Promise<void> {
  throw new Error(`not built ${context} ${key} ${options}`);
}
