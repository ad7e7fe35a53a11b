import { MessageBuffer } from '../../mime/buffer.ts';
import type { MailParts } from '../../mime/mail.ts';
import { writeMail } from '../../mime/write.ts';
import type { SendOutcome } from '../outcome.ts';
import { isOver, type MailSignature, type Outgoing, unwritable } from '../outgoing.ts';
import type { TakenMail } from '../queue.ts';
import { mailCommand, rcptCommand } from './commands.ts';
import type { Dialed, Timeouts } from './dial.ts';
import { answered, isSequenceError, outageInfo, type Reply, refusal } from './outcome.ts';
import type { Command } from './recipient-refusal.ts';
import type { Wire } from './wire.ts';

/** The pool, as its sessions see it. */
export type SessionHost = {
  /** The next message to send, rendered; undefined if there is none for now. */
  take: () => TakenMail | undefined;
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

/**
 * The command that the next reply answers; none at `idle` and at `begin`, when a body waits to be
 * written.
 */
type Step = 'idle' | 'begin' | 'body' | 'reset' | 'mail' | 'rcpt' | 'copy' | 'data' | 'empty';

type Refused = { command: Command; reply: Reply };
type Next = {
  outgoing: Outgoing;
  mail: MailParts;
  refused?: Refused;
  isMailAccepted: boolean;
  /** How many copies the server has answered for. */
  copiesAnswered: number;
};

/**
 * A larger body is a write of its own, which says whether the kernel took all of it; for smaller
 * ones that costs too much.
 */
const largeBytes = 32 * 1024;
/** The line that ends a mail. */
const endOfMail = '.\r\n';

/**
 * One connection. Each body goes out with the next envelope, so a message costs one write, read and
 * round trip.
 */
export class SmtpSession {
  #step: Step = 'idle';
  #body: Outgoing | undefined;
  #next: Next | undefined;
  /** The server may still be in a transaction that won't be finished. */
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
  readonly #features: Dialed['features'];
  readonly #host: SessionHost;
  /** When the wait for the reply is over, or when the session became idle. */
  deadlineMs = Number.POSITIVE_INFINITY;
  idleSinceMs = Date.now();

  constructor({ wire, features }: Dialed, host: SessionHost) {
    this.#wire = wire;
    this.#pipelining = features.pipelining;
    this.#features = features;
    this.#host = host;
    wire.onReply = (reply) => this.#onReply(reply);
    wire.onClose = (reason) => this.#onClose(reason);
  }

  get isIdle(): boolean {
    return this.#step === 'idle';
  }

  /** How long the server has had the message that it is to answer next; 0 if it has none. */
  get ageMs(): number {
    const isOurTurn = this.#step === 'idle' || this.#step === 'begin';
    return isOurTurn ? 0 : performance.now() - this.#startedAtMs;
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
      this.#host.ended();
    } else this.#wire.destroy(reason);
  }

  #takeNext(): boolean {
    const taken = this.#host.take();
    if (taken === undefined) return false;
    taken.outgoing.refusedCopies = 0;
    this.#next = { ...taken, isMailAccepted: false, copiesAnswered: 0 };
    this.#expectWithin(this.#host.timeouts.commandMs);
    return true;
  }

  /** The commands of the next envelope, as many of them as may go at once. */
  #envelope(): string {
    const next = this.#next;
    if (!next) return '';
    const { outgoing } = next;
    const reset = this.#isDirty ? 'RSET\r\n' : '';
    if (!this.#pipelining) return reset || this.#mail(next);
    const envelope = reset + this.#mail(next) + this.#rcpt(outgoing, outgoing.to);
    if (outgoing.copies.length === 0) return `${envelope}DATA\r\n`;
    // Without DATA: if only the recipient is refused, the copies must get no empty message.
    return envelope + outgoing.copies.map((copy) => this.#rcpt(outgoing, copy)).join('');
  }

  #mail({ outgoing, mail: { finished } }: Next): string {
    return mailCommand(outgoing, this.#features, finished);
  }

  #rcpt(outgoing: Outgoing, to: string): string {
    return rcptCommand(outgoing, to, this.#features.dsn);
  }

  /** Without pipelining a command waits for the answer to the one before. */
  #send(command: string): void {
    if (!this.#pipelining) this.#wire.write(command);
  }

  #onReply(reply: Reply): void {
    this.#expectWithin(this.#host.timeouts.commandMs);
    if (reply.code === 421) this.#onShutdown(reply);
    else if (this.#step === 'begin') this.#wire.destroy('an unexpected reply');
    else if (this.#body !== undefined) this.#onBodyReply(this.#body, reply);
    else if (this.#next === undefined) this.#wire.destroy('an unexpected reply');
    else this.#onEnvelopeReply(this.#step, this.#next, reply);
  }

  #onEnvelopeReply(step: Step, next: Next, reply: Reply): void {
    if (step === 'reset') {
      this.#isDirty = false;
      this.#step = 'mail';
      this.#send(this.#mail(next));
    } else if (step === 'mail') {
      next.isMailAccepted = reply.code < 300;
      this.#step = 'rcpt';
      if (next.isMailAccepted) this.#send(this.#rcpt(next.outgoing, next.outgoing.to));
      else this.#refuseEarly(next, { command: 'MAIL', reply });
    } else if (step === 'rcpt') {
      const [copy] = next.outgoing.copies;
      this.#step = copy === undefined ? 'data' : 'copy';
      if (reply.code >= 300) this.#refuseEarly(next, { command: 'RCPT', reply });
      else this.#send(copy === undefined ? 'DATA\r\n' : this.#rcpt(next.outgoing, copy));
    } else if (step === 'copy') this.#onCopyReply(next, reply);
    else if (step === 'data') this.#onDataReply(next, reply);
    else this.#settleRefused(next, next.refused ?? { command: 'DATA', reply });
  }

  /** A refused copy does not keep the message from the others. */
  #onCopyReply(next: Next, reply: Reply): void {
    const { outgoing } = next;
    next.copiesAnswered += 1;
    if (reply.code >= 300) outgoing.refusedCopies += 1;
    const copy = outgoing.copies[next.copiesAnswered];
    if (copy !== undefined) this.#send(this.#rcpt(outgoing, copy));
    else if (next.refused !== undefined) this.#settleRefused(next, next.refused);
    else {
      this.#step = 'data';
      this.#wire.write('DATA\r\n');
    }
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
      // RFC 2920: a server may ask for a message without recipients; it gets an empty one, and its
      // answer is ignored.
      this.#wire.write('.\r\n');
      this.#step = 'empty';
    }
  }

  /**
   * Makes ready the body, and once it is signed the next envelope behind it; writes them once the
   * body may begin.
   */
  #sendBody(next: Next): void {
    const { outgoing } = next;
    const unsent = this.#encode(next);
    this.#next = undefined;
    this.#body = outgoing;
    this.#isDirty = false;
    this.#isWritten = false;
    this.#step = 'begin';
    if (unsent !== undefined) {
      this.#leaveBody(outgoing, unsent);
      return;
    }
    if (outgoing.signature) this.#sign(next, outgoing.signature);
    else this.#beginBody(outgoing);
  }

  /** The server waits meanwhile, but is not measured. */
  #sign({ outgoing, mail }: Next, signature: MailSignature): void {
    const fromMs = performance.now();
    // Without the dots that lines of a finished mail have on their way.
    const written = mail.finished ?? this.#buffer.written().subarray(0, -endOfMail.length);
    signature.make(written, (fields) => {
      // The connection has ended.
      if (this.#body !== outgoing) return;
      this.#startedAtMs += performance.now() - fromMs;
      if (fields === undefined || fields.length > signature.room) {
        this.#leaveBody(outgoing, { kind: 'deferred', info: 'the mail could not be signed' });
        return;
      }
      this.#buffer.prepend(fields);
      this.#beginBody(outgoing);
    });
  }

  #beginBody(outgoing: Outgoing): void {
    const envelope = this.#pipelining && this.#takeNext() ? this.#envelope() : '';
    this.#expectWithin(this.#host.timeouts.finalMs);
    const write = (mayWrite: boolean) => this.#writeBody(outgoing, envelope, mayWrite);
    if (outgoing.begin) outgoing.begin(write);
    else write(true);
  }

  /** The lease and the signal are checked right before. */
  #writeBody(outgoing: Outgoing, envelope: string, mayWrite: boolean): void {
    // The connection has ended.
    if (this.#body !== outgoing) return;
    if (!mayWrite || isOver(outgoing)) {
      this.#leaveBody(outgoing, { kind: 'not_started' });
      return;
    }
    this.#step = 'body';
    if (this.#buffer.length > largeBytes) {
      this.#wire.write(this.#buffer.written(), this.#onWritten);
      if (envelope !== '') this.#wire.write(envelope);
      return;
    }
    this.#isWritten = true;
    this.#buffer.appendLatin1(envelope);
    this.#wire.write(this.#buffer.written());
  }

  /** A server that waits for a message can be stopped only by closing the connection. */
  #leaveBody(outgoing: Outgoing, outcome: SendOutcome): void {
    this.#body = undefined;
    this.#settle(outgoing, outcome);
    this.#wire.destroy('the message is not to be sent');
  }

  /**
   * Writes the message into the buffer; gives the outcome of one that must not or can't be sent.
   */
  #encode({ outgoing, mail }: Next): SendOutcome | undefined {
    if (isOver(outgoing)) return { kind: 'not_started' };
    this.#buffer.clear(outgoing.signature?.room);
    try {
      if (mail.finished) this.#buffer.appendStuffed(mail.finished);
      else writeMail(this.#buffer, mail);
      this.#buffer.appendLatin1(endOfMail);
      return undefined;
    } catch (error) {
      return unwritable(outgoing, error);
    }
  }

  #settle(outgoing: Outgoing, outcome: SendOutcome): void {
    this.#host.settle(outgoing, outcome, this.#answered === 0);
  }

  #onBodyReply(outgoing: Outgoing, reply: Reply): void {
    const nowMs = performance.now();
    this.#host.measured(nowMs - this.#startedAtMs);
    this.#startedAtMs = nowMs;
    this.#body = undefined;
    this.#settle(outgoing, withCopies(outgoing, answered(reply)));
    this.#answered += 1;
    if (this.#next !== undefined) this.#step = 'mail';
    else this.#becomeIdle();
  }

  #settleRefused(next: Next, { command, reply }: Refused): void {
    this.#next = undefined;
    if (isSequenceError(reply)) {
      // Another connection may work; if none does, the server wants something that is not
      // supported, or refuses this recipient so.
      next.outgoing.lost += 1;
      const settledSo: SendOutcome =
        command === 'RCPT'
          ? refusal(command, reply)
          : { kind: 'outage', info: outageInfo(command, reply) };
      this.#host.giveBack(next.outgoing, settledSo);
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

  /**
   * 421: the server ends the session. It answers the message whose body was sent, if any; the next
   * one goes back.
   */
  #onShutdown(reply: Reply): void {
    const [body, next] = [this.#body, this.#next?.outgoing];
    this.#body = undefined;
    if (body !== undefined) this.#settle(body, answered(reply));
    else if (next !== undefined) {
      this.#next = undefined;
      // Servers may end a session after some messages; one that never takes any must not be retried
      // for ever.
      if (this.#step !== 'mail' || this.#answered === 0) next.lost += 1;
      this.#host.giveBack(next, refusal('RCPT', reply));
    }
    this.#wire.destroy(`the server ended the session (${reply.code})`);
  }

  /**
   * Only a body that was written in full is in doubt; one that was cut short and the next message
   * go back.
   */
  #onClose(reason: string): void {
    const [body, next] = [this.#body, this.#next?.outgoing];
    this.#body = undefined;
    this.#next = undefined;
    const lost: SendOutcome = { kind: 'deferred', info: `${reason} before the message was sent` };
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
    this.#host.ended();
  }

  #expectWithin(timeoutMs: number): void {
    this.deadlineMs = Date.now() + timeoutMs;
  }
}

/** Says how many copies the server did not take. */
function withCopies({ refusedCopies, copies }: Outgoing, outcome: SendOutcome): SendOutcome {
  if (refusedCopies === 0 || outcome.kind !== 'accepted') return outcome;
  const info = `${refusedCopies} of ${copies.length} copies refused; ${outcome.info}`;
  return { ...outcome, info: info.slice(0, 255) };
}
