import type { MailParts } from '../mime/mail.ts';
import { outageOf, type SendOutcome } from './outcome.ts';
import { isTooLate, type Outgoing, unwritable } from './outgoing.ts';
import type { SenderHost } from './provider.ts';
import { Streak } from './streak.ts';

/** A message is deferred once this many connections have ended before its body was sent. */
const lostMax = 2;

export type TakenMail = { outgoing: Outgoing; mail: MailParts };

/**
 * The messages of a sender, from `add` until each is settled: those that wait, urgent ones first,
 * and those in flight. After many refusals alike one is in flight at a time, until one is taken.
 */
export class OutgoingQueue {
  readonly #host: Pick<SenderHost, 'mayStart' | 'mayStartBulk'>;
  /** There may be something to take again. */
  readonly #onReady: () => void;
  /** TakenMail before the others. Few messages are urgent. */
  #urgent: Outgoing[] = [];
  #queue: Outgoing[] = [];
  #head = 0;
  /** TakenMail and neither settled nor given back. */
  #inFlight = 0;
  #isClosed = false;
  readonly #streak = new Streak<Outgoing>();

  constructor(host: Pick<SenderHost, 'mayStart' | 'mayStartBulk'>, onReady: () => void) {
    this.#host = host;
    this.#onReady = onReady;
  }

  get waiting(): number {
    return this.#urgent.length + this.#queue.length - this.#head;
  }

  get isProbing(): boolean {
    return this.#streak.isLong;
  }

  /** Whether outcomes are kept back, for others to tell whose fault they are. */
  get keepsAny(): boolean {
    return this.#streak.keepsAny;
  }

  add(messages: readonly Outgoing[], isUrgent: boolean): void {
    const waiting = isUrgent ? this.#urgent : this.#queue;
    for (const message of messages) waiting.push(message);
  }

  /** The next message to send, rendered; undefined if there is none for now. */
  take(): TakenMail | undefined {
    if (this.#streak.isLong && this.#inFlight > 0) return undefined;
    if (this.#host.mayStart?.() === false) return undefined;
    const isBulkHeld = this.#host.mayStartBulk?.() === false;
    for (;;) {
      const outgoing = this.#urgent.shift() ?? (isBulkHeld ? undefined : this.#nextInQueue());
      if (outgoing === undefined) return undefined;
      if (isTooLate(outgoing)) outgoing.settle({ kind: 'not_started' });
      else {
        const mail = prepared(outgoing);
        if (mail !== undefined) {
          this.#inFlight += 1;
          return { outgoing, mail };
        }
      }
    }
  }

  /** Settles what was taken. `isSign`: whether an unknown outcome says something of the server. */
  settle(outgoing: Outgoing, outcome: SendOutcome, isSign: boolean): void {
    this.#inFlight -= 1;
    const wasLong = this.#streak.isLong;
    for (const { message, outcome: decided } of this.#streak.add(outgoing, outcome, isSign)) {
      message.settle(decided);
      const outage = outageOf(decided);
      if (outage !== undefined) this.#refuseSender(message.from, outage);
    }
    if (wasLong && !this.#streak.isLong) this.#onReady();
  }

  /**
   * Takes back a message that the server did not take; after too many times it is settled with
   * `settledSo`. It is queued first: servers that take one message a connection refuse the second,
   * but take it as the first of another.
   */
  giveBack(outgoing: Outgoing, settledSo: SendOutcome): void {
    if (outgoing.lost >= lostMax) {
      this.settle(outgoing, settledSo, true);
      return;
    }
    this.#inFlight -= 1;
    if (this.#isClosed || outgoing.signal.aborted) outgoing.settle({ kind: 'not_started' });
    else if (this.#head > 0) {
      this.#head -= 1;
      this.#queue[this.#head] = outgoing;
    } else this.#queue.unshift(outgoing);
  }

  /** Settles what was not begun and may not be begun any more. */
  dropOver(): void {
    this.#settleWaiting(isTooLate, { kind: 'not_started' });
  }

  /** Settles what was kept back, once no other outcome will decide it. */
  settleKept(): void {
    for (const { message, outcome } of this.#streak.takeLate(this.#inFlight > 0))
      message.settle(outcome);
  }

  /** The provider takes no mail at all. */
  refuseAll(info: string): void {
    this.#settleWaiting(() => true, { kind: 'outage', info });
  }

  close(): void {
    this.#isClosed = true;
    this.#settleWaiting(() => true, { kind: 'not_started' });
    for (const { message, outcome } of this.#streak.takeKept()) message.settle(outcome);
  }

  #nextInQueue(): Outgoing | undefined {
    const outgoing = this.#queue[this.#head];
    if (outgoing === undefined) return undefined;
    this.#head += 1;
    if (this.#head === this.#queue.length) {
      this.#queue = [];
      this.#head = 0;
    }
    return outgoing;
  }

  /** Waiting messages of the same sender would be refused too. */
  #refuseSender(from: string, info: string): void {
    this.#settleWaiting((message) => message.from === from, { kind: 'outage', info });
  }

  #settleWaiting(isOver: (message: Outgoing) => boolean, outcome: SendOutcome): void {
    const waiting = this.#queue.slice(this.#head);
    const over = new Set([...this.#urgent, ...waiting].filter(isOver));
    if (over.size === 0) return;
    this.#head = 0;
    this.#queue = waiting.filter((message) => !over.has(message));
    this.#urgent = this.#urgent.filter((message) => !over.has(message));
    for (const message of over) message.settle(outcome);
  }
}

/** Renders at the last moment; a message that can't be rendered fails alone. */
function prepared(outgoing: Outgoing): MailParts | undefined {
  try {
    return outgoing.prepare();
  } catch (error) {
    outgoing.settle(unwritable(outgoing, error));
    return undefined;
  }
}
