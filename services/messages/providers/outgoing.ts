import type { MailParts } from '../mime/mail.ts';
import type { SendOutcome } from './outcome.ts';

/** One message to hand over, rendered only when there is room for it. */
export type Outgoing = {
  /** The message's id, a UUID. */
  id: string;
  /** Envelope addresses, checked and in ASCII. */
  from: string;
  to: string;
  /** The envelope sender to which what becomes of the message is sent, in place of `from`. */
  returnPath?: string | undefined;
  /** Further recipients of the same message. */
  copies: readonly string[];
  /** Copies that the provider refused; counted by its sender. */
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
  prepare: () => MailParts;
  /** Makes its signature; absent where it goes out without one. */
  signature?: MailSignature | undefined;
  /**
   * Called before the body is written; what it is given is called in the same turn, with false if
   * the body must not be written.
   */
  begin?: (write: (mayWrite: boolean) => void) => void;
  /** The recorded reason of a message that `prepare` or the encoding has thrown an error for. */
  failureInfo: (error: unknown) => string;
  /** Called once. */
  settle: (outcome: SendOutcome) => void;
  /** How many connections ended while it was next; kept by the queue. */
  lost: number;
};

/** Signs a mail as it is written. */
export type MailSignature = {
  /** Bytes that the fields take at most. */
  room: number;
  /**
   * Gives header fields to put before the mail, which stays as it is until then; undefined where it
   * cannot be signed now.
   */
  make(mail: Buffer, done: (fields: string | undefined) => void): void;
};

/** Whether nothing of a message may be written any more. */
export function isOver({ signal, held }: Outgoing): boolean {
  return signal.aborted || Date.now() >= held.leaseUntilMs;
}

/** Whether a message may not be begun any more. */
export function isTooLate(outgoing: Outgoing): boolean {
  return isOver(outgoing) || Date.now() >= outgoing.startsUntilMs;
}

/** The outcome of a message that can't be rendered or encoded. */
export function unwritable(outgoing: Outgoing, error: unknown): SendOutcome {
  return { kind: 'failed', info: outgoing.failureInfo(error) };
}
