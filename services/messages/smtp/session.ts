import { MessageBuffer } from '../mime/buffer.ts';
import { type Prepared, writeMessage } from '../render/compose.ts';
import type { Dialed, Timeouts } from './dial.ts';
import {
  answered,
  type Command,
  isSequenceError,
  type Outcome,
  outageInfo,
  type Reply,
  refusal,
  unrendered,
} from './outcome.ts';
import type { Outgoing } from './outgoing.ts';
import type { Wire } from './wire.ts';

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

/** What the next reply answers. */
type Step = 'idle' | 'body' | 'reset' | 'mail' | 'rcpt' | 'data' | 'empty';

type Refused = { command: Command; reply: Reply };
type Next = { outgoing: Outgoing; message: Prepared; refused?: Refused; isMailAccepted: boolean };

/** A larger body is a write of its own, so that what the kernel took of it is known; for others that costs too much. */
const largeBytes = 32 * 1024;

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
  #startedAtMs = 0;
  /** Whether the last body may have left this machine in full. */
  #isWritten = true;
  readonly #onWritten = (error?: Error | null) => {
    this.#isWritten ||= !error;
  };
  /** Messages that the server has answered. */
  #answered = 0;
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
    this.#startedAtMs = performance.now();
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
    else if (this.#body !== undefined) this.#onBodyReply(this.#body, reply);
    else if (this.#next === undefined) this.#wire.destroy('an unexpected reply');
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
      else this.#refuseEarly(next, { command: 'MAIL', reply });
    } else if (step === 'rcpt') {
      this.#step = 'data';
      if (reply.code < 300) this.#send('DATA\r\n');
      else this.#refuseEarly(next, { command: 'RCPT', reply });
    } else if (step === 'data') this.#onDataReply(next, reply);
    else this.#settleRefused(next, next.refused ?? { command: 'DATA', reply });
  }

  /** The other answers of a pipelined group are still to come. */
  #refuseEarly(next: Next, refused: Refused): void {
    next.refused ??= refused;
    if (!this.#pipelining) this.#settleRefused(next, next.refused);
  }

  #onDataReply(next: Next, reply: Reply): void {
    if (reply.code !== 354) this.#settleRefused(next, next.refused ?? { command: 'DATA', reply });
    else if (next.refused === undefined) this.#sendBody(next);
    else {
      // RFC 2920: a server may ask for the message of nobody; it gets an empty one and its answer says nothing.
      this.#wire.write('.\r\n');
      this.#step = 'empty';
    }
  }

  /** Written with the next envelope behind it; the lease and the caller's will are looked at right before. */
  #sendBody({ outgoing, message }: Next): void {
    const isOver = outgoing.signal.aborted || Date.now() >= outgoing.leaseUntilMs;
    const unsent: Outcome | undefined = isOver ? { kind: 'not_started' } : this.#encode(message);
    this.#next = undefined;
    if (unsent !== undefined) {
      // Only closing the connection makes the server forget a message that it waits for.
      this.#settle(outgoing, unsent);
      this.#wire.destroy('the message is not to be sent');
      return;
    }
    this.#body = outgoing;
    this.#isDirty = false;
    const isLarge = this.#buffer.length > largeBytes;
    this.#isWritten = !isLarge;
    if (isLarge) this.#wire.write(this.#buffer.written(), this.#onWritten);
    if (this.#pipelining && this.#takeNext()) {
      if (isLarge) this.#wire.write(this.#envelope());
      else this.#buffer.appendLatin1(this.#envelope());
    }
    this.#step = 'body';
    this.#expectWithin(this.#host.timeouts.finalMs);
    if (!isLarge) this.#wire.write(this.#buffer.written());
  }

  /** Into the buffer; gives what became of a message that does not go there. */
  #encode(message: Prepared): Outcome | undefined {
    this.#buffer.length = 0;
    try {
      writeMessage(this.#buffer, message);
      return undefined;
    } catch (error) {
      return unrendered(error);
    }
  }

  #settle(outgoing: Outgoing, outcome: Outcome): void {
    this.#host.settle(outgoing, outcome, this.#answered === 0);
  }

  #onBodyReply(outgoing: Outgoing, reply: Reply): void {
    const nowMs = performance.now();
    this.#host.measured(nowMs - this.#startedAtMs);
    this.#startedAtMs = nowMs;
    this.#body = undefined;
    this.#settle(outgoing, answered(reply));
    this.#answered += 1;
    if (this.#next !== undefined) this.#step = 'mail';
    else this.#becomeIdle();
  }

  #settleRefused(next: Next, { command, reply }: Refused): void {
    this.#next = undefined;
    if (isSequenceError(reply)) {
      // Another connection may agree again; where none does, the server wants something that we don't do.
      next.outgoing.lost += 1;
      this.#host.giveBack(next.outgoing, { kind: 'outage', info: outageInfo(command, reply) });
      this.#wire.destroy('the server lost track of the session');
      return;
    }
    this.#isDirty = next.isMailAccepted;
    this.#settle(next.outgoing, refusal(command, reply));
    this.#becomeIdle();
  }

  #becomeIdle(): void {
    this.#step = 'idle';
    this.deadlineMs = Number.POSITIVE_INFINITY;
    this.idleSinceMs = Date.now();
    this.start();
  }

  /** 421: the server ends the session. Only a message that it has is answered by it; the next goes back. */
  #onShutdown(reply: Reply): void {
    const [body, next] = [this.#body, this.#next?.outgoing];
    this.#body = undefined;
    if (body !== undefined) this.#settle(body, answered(reply));
    else if (next !== undefined) {
      this.#next = undefined;
      // A server may end its sessions after so many messages; one that never takes any must not be asked for ever.
      if (this.#step !== 'mail' || this.#answered === 0) next.lost += 1;
      this.#host.giveBack(next, refusal('RCPT', reply));
    }
    this.#wire.destroy(`the server ended the session (${reply.code})`);
  }

  /** Only a body in flight is in doubt; a body that was cut short and the next message go back untouched. */
  #onClose(reason: string): void {
    const [body, next] = [this.#body, this.#next?.outgoing];
    this.#body = undefined;
    this.#next = undefined;
    const lost: Outcome = { kind: 'deferred', info: `${reason} before the message was sent` };
    if (next !== undefined) {
      if (body === undefined) next.lost += 1;
      this.#host.giveBack(next, lost);
    }
    if (body !== undefined && this.#isWritten) {
      this.#settle(body, { kind: 'unknown', info: `${reason} before the server had answered` });
    } else if (body !== undefined) {
      body.lost += 1;
      this.#host.giveBack(body, lost);
    }
    this.#host.ended(this, reason);
  }

  #expectWithin(timeoutMs: number): void {
    this.deadlineMs = Date.now() + timeoutMs;
  }
}
