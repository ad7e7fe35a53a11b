import { MessageBuffer } from '../mime/buffer.ts';
import { type Prepared, writeMessage } from '../render/compose.ts';
import type { Dialed, Timeouts } from './dial.ts';
import { infoOf, type Outcome, type Reply, refusal } from './outcome.ts';
import type { Wire } from './wire.ts';

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
  /** Takes back a message of which nothing happened. */
  giveBack: (outgoing: Outgoing) => void;
  /** The session is over and may be forgotten. */
  ended: (session: Session, reason: string) => void;
  /** A body was answered after so long. */
  measured: (latencyMs: number) => void;
  timeouts: Timeouts;
};

/** What the next reply answers. */
type Step = 'idle' | 'body' | 'reset' | 'mail' | 'rcpt' | 'data' | 'empty';

type Next = { outgoing: Outgoing; message: Prepared; refused?: Reply; isMailAccepted: boolean };

/** Replies that say that client and server no longer agree on where they are. */
const sequenceErrors = new Set([500, 502, 503]);
/** Replies to MAIL that are about the account and not about the message. */
const accountErrors = new Set([530, 534, 535, 538]);

/**
 * One connection: the envelope of the next message goes out with the body of the one before, so that a message
 * costs one write, one read and one round trip.
 */
export class Session {
  #step: Step = 'idle';
  #body: Outgoing | undefined;
  #next: Next | undefined;
  /** The server may still be in a transaction that nobody will finish. */
  #isDirty = false;
  #bodyAtMs = 0;
  readonly #buffer = new MessageBuffer();
  readonly #wire: Wire;
  readonly #pipelining: boolean;
  readonly #host: SessionHost;
  /** When the wait for the reply is over, or when the session became idle. */
  deadlineMs = Number.POSITIVE_INFINITY;
  idleSinceMs = Date.now();

  constructor({ wire, pipelining }: Dialed, host: SessionHost) {
    this.#wire = wire;
    this.#pipelining = pipelining;
    this.#host = host;
    wire.onReply = (reply) => this.#onReply(reply);
    wire.onClose = (reason) => this.#onClose(reason);
  }

  get isIdle(): boolean {
    return this.#step === 'idle';
  }

  /** Takes up the next message, if the session is free and there is one. */
  start(): void {
    if (this.#step !== 'idle' || !this.#takeNext()) return;
    this.#wire.write(this.#envelope());
    this.#step = this.#isDirty ? 'reset' : 'mail';
  }

  end(reason: string): void {
    if (this.#step === 'idle') {
      this.#wire.quit();
      this.#host.ended(this, reason);
    } else this.#wire.destroy(reason);
  }

  #takeNext(): boolean {
    const taken = this.#host.take();
    if (taken === undefined) return false;
    this.#next = { ...taken, isMailAccepted: false };
    this.#expectWithin(this.#host.timeouts.commandMs);
    return true;
  }

  /** The commands of the next envelope, as many of them as may go at once. */
  #envelope(): string {
    const { from = '', to = '' } = this.#next?.outgoing ?? {};
    const reset = this.#isDirty ? 'RSET\r\n' : '';
    if (!this.#pipelining) return reset || `MAIL FROM:<${from}>\r\n`;
    return `${reset}MAIL FROM:<${from}>\r\nRCPT TO:<${to}>\r\nDATA\r\n`;
  }

  /** Without pipelining a command waits for the answer to the one before. */
  #send(command: string): void {
    if (!this.#pipelining) this.#wire.write(command);
  }

  #onReply(reply: Reply): void {
    this.#expectWithin(this.#host.timeouts.commandMs);
    if (reply.code === 421) this.#onShutdown(reply);
    else if (this.#step === 'body') this.#onBodyReply(reply);
    else if (this.#step === 'idle' || this.#next === undefined)
      this.#wire.destroy('an unexpected reply');
    else this.#onEnvelopeReply(this.#step, this.#next, reply);
  }

  #onEnvelopeReply(step: Step, next: Next, reply: Reply): void {
    if (step === 'reset') {
      this.#isDirty = false;
      this.#step = 'mail';
      this.#send(`MAIL FROM:<${next.outgoing.from}>\r\n`);
    } else if (step === 'mail') {
      next.isMailAccepted = reply.code < 300;
      this.#step = 'rcpt';
      if (next.isMailAccepted) this.#send(`RCPT TO:<${next.outgoing.to}>\r\n`);
      else this.#refuseEarly(next, reply);
    } else if (step === 'rcpt') {
      this.#step = 'data';
      if (reply.code < 300) this.#send('DATA\r\n');
      else this.#refuseEarly(next, reply);
    } else if (step === 'data') this.#onDataReply(next, reply);
    else this.#settleRefused(next, next.refused ?? reply);
  }

  /** The other answers of a pipelined group are still to come. */
  #refuseEarly(next: Next, reply: Reply): void {
    next.refused ??= reply;
    if (!this.#pipelining) this.#settleRefused(next, next.refused);
  }

  #onDataReply(next: Next, reply: Reply): void {
    if (reply.code !== 354) this.#settleRefused(next, next.refused ?? reply);
    else if (next.refused === undefined) this.#sendBody(next);
    else {
      // RFC 2920: a server may ask for the message of nobody; it gets an empty one and its answer says nothing.
      this.#wire.write('.\r\n');
      this.#step = 'empty';
    }
  }

  /** Written with the next envelope behind it; the lease and the caller's will are looked at right before. */
  #sendBody({ outgoing, message }: Next): void {
    if (outgoing.signal.aborted || Date.now() >= outgoing.leaseUntilMs) {
      // Only closing the connection makes the server forget a message that it waits for.
      this.#next = undefined;
      outgoing.settle({ kind: 'not_started' });
      this.#wire.destroy('the message is no longer to be sent');
      return;
    }
    this.#buffer.length = 0;
    writeMessage(this.#buffer, message);
    this.#next = undefined;
    this.#body = outgoing;
    this.#isDirty = false;
    this.#bodyAtMs = performance.now();
    if (this.#pipelining && this.#takeNext()) this.#buffer.appendLatin1(this.#envelope());
    this.#step = 'body';
    this.#expectWithin(this.#host.timeouts.finalMs);
    this.#wire.write(this.#buffer.written());
  }

  #onBodyReply(reply: Reply): void {
    const outgoing = this.#body;
    this.#body = undefined;
    this.#host.measured(performance.now() - this.#bodyAtMs);
    outgoing?.settle(reply.code < 300 ? { kind: 'sent', info: infoOf(reply) } : refusal(reply));
    if (this.#next !== undefined) this.#step = 'mail';
    else this.#becomeIdle();
  }

  #settleRefused(next: Next, reply: Reply): void {
    if (sequenceErrors.has(reply.code)) {
      this.#wire.destroy('the server lost track of the session');
      return;
    }
    this.#next = undefined;
    this.#isDirty = next.isMailAccepted;
    if (!next.isMailAccepted && accountErrors.has(reply.code)) {
      next.outgoing.settle({
        kind: 'outage',
        info: `the server refuses the account (${reply.code})`,
      });
    } else next.outgoing.settle(refusal(reply));
    this.#becomeIdle();
  }

  #becomeIdle(): void {
    this.#step = 'idle';
    this.#next = undefined;
    this.deadlineMs = Number.POSITIVE_INFINITY;
    this.idleSinceMs = Date.now();
    this.start();
  }

  /** 421: the server ends the session. It is the answer to what was waiting longest. */
  #onShutdown(reply: Reply): void {
    const waiting = this.#body ?? this.#next?.outgoing;
    if (this.#body === undefined) this.#next = undefined;
    this.#body = undefined;
    waiting?.settle(refusal(reply));
    this.#wire.destroy(`the server ended the session (${reply.code})`);
  }

  /** Only a body in flight is in doubt; the next message goes back untouched. */
  #onClose(reason: string): void {
    const [body, next] = [this.#body, this.#next?.outgoing];
    this.#body = undefined;
    this.#next = undefined;
    this.#step = 'idle';
    body?.settle({ kind: 'unknown', info: `${reason} before the server had answered` });
    if (next !== undefined) {
      if (body === undefined) next.lost += 1;
      this.#host.giveBack(next);
    }
    this.#host.ended(this, reason);
  }

  #expectWithin(timeoutMs: number): void {
    this.deadlineMs = Date.now() + timeoutMs;
  }
}
