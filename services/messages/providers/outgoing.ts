import type { PreparedMail } from '../mime/message.ts';
import type { Timeouts } from './smtp/dial.ts';
import type { SendOutcome } from './smtp/outcome.ts';

/** One message to hand over, rendered only when a connection is free for it. */
export type Outgoing = {
  /** Envelope addresses, checked and in ASCII. */
  from: string;
  to: string;
  /** Further recipients of the same message. */
  copies: readonly string[];
  /** Copies that the server refused; counted by the session. */
  refusedCopies: number;
  /** The message is not begun after this. */
  startsUntilMs: number;
  /**
   * Nothing is written of the body after `leaseUntilMs`; another process may have taken the message
   * over.
   */
  held: { readonly leaseUntilMs: number };
  signal: AbortSignal;
  /** Renders; throws if this message can't be. */
  prepare: () => PreparedMail;
  /**
   * Called before the body is written; what it is given is called in the same turn, with false if
   * the body must not be written.
   */
  begin?: (write: (mayWrite: boolean) => void) => void;
  /** The recorded reason of a message that `prepare` or the encoding has thrown an error for. */
  failureInfo: (error: unknown) => string;
  /** Called once. */
  settle: (outcome: SendOutcome) => void;
  /** How many connections ended while it was next; kept by the pool. */
  lost: number;
};

/** Whether nothing of a message may be written any more. */
export function isOver({ signal, held }: Outgoing): boolean {
  return signal.aborted || Date.now() >= held.leaseUntilMs;
}

/** Whether a message may not be begun any more. */
export function isTooLate(outgoing: Outgoing): boolean {
  return isOver(outgoing) || Date.now() >= outgoing.startsUntilMs;
}

/** The pool, as its sessions see it. */
export type SessionHost = {
  /** The next message to send, rendered; undefined if there is none for now. */
  take: () => { outgoing: Outgoing; message: PreparedMail } | undefined;
  /** Settles what was taken. `isFirst`: the connection had handed over no message before. */
  settle: (outgoing: Outgoing, outcome: SendOutcome, isFirst: boolean) => void;
  /**
   * Takes back a message that the server did not take; after too many times it is settled with
   * `settledSo`.
   */
  giveBack: (outgoing: Outgoing, settledSo: SendOutcome) => void;
  /** The time from a message's envelope, or from the answer before it, to its own answer. */
  measured: (latencyMs: number) => void;
  /** The session is over and may be forgotten. */
  ended: () => void;
  timeouts: Timeouts;
};
