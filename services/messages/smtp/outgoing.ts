import type { Prepared } from '../render/compose.ts';
import type { Timeouts } from './dial.ts';
import type { Outcome } from './outcome.ts';
import type { Session } from './session.ts';

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

/** What a session asks of its pool. */
export type SessionHost = {
  /** The next message to send, rendered; undefined if there is none for now. */
  take: () => { outgoing: Outgoing; message: Prepared } | undefined;
  /** Settles what was taken. `isFirst`: the connection had handed over no message before. */
  settle: (outgoing: Outgoing, outcome: Outcome, isFirst: boolean) => void;
  /** Takes back a message of which nothing happened; it is settled so if that has been too often. */
  giveBack: (outgoing: Outgoing, settledSo: Outcome) => void;
  /** The session is over and may be forgotten. */
  ended: (session: Session, reason: string) => void;
  /** A connection needed so long for a message, from its envelope or the answer before to its own answer. */
  measured: (latencyMs: number) => void;
  timeouts: Timeouts;
};
