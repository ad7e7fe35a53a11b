import type { SubscriptionKey } from '../subscription.ts';
import type { SendingContext } from './attempt.ts';

/** Makes the first attempt of every delivery, at once where the endpoint answers well. One for each process of the service. */
export class Dispatcher {
  readonly context: SendingContext;
  constructor(context: SendingContext) {
    this.context = context;
  }
  /** Looks once a second for endpoints that nobody has named, until stopped. */
  start(): void {}
  /** Says which endpoints may have new deliveries. Call it after the commit. */
  poke(_keys: readonly SubscriptionKey[]): void {}
  /** Claims nothing more; settles when open callbacks have ended and their results are stored. */
  async stop(): Promise<void> {}
}
