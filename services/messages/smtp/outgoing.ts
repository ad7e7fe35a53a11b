import type { Prepared } from '../render/compose.ts';
import type { Outcome } from './outcome.ts';

/** One message to hand over, rendered only when a connection is free for it. */
export type Outgoing = {
  /** Envelope addresses, checked and in ASCII. */
  from: string;
  to: string;
  /** Nothing is written of the body after this; another process may have taken the message over. */
  leaseUntilMs: number;
  signal: AbortSignal;
  /** Renders; throws if this message can't be. */
  prepare: () => Prepared;
  /** Called once. */
  settle: (outcome: Outcome) => void;
  /** How many connections ended while it was next; kept by the pool. */
  lost: number;
};
