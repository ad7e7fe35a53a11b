import type { PreparedMail } from '../../mime/message.ts';
import { isTooLate, type Outgoing, type SessionHost } from '../outgoing.ts';
import { Streak } from '../streak.ts';
import {
  defaultTimeouts,
  dial,
  OutageError,
  type Resolve,
  type ServerSettings,
  type Timeouts,
} from './dial.ts';
import { outageOf, type SendOutcome, unwritable } from './outcome.ts';
import { SmtpSession } from './session.ts';

const dialsAtOnceMax = 8;
/**
 * A process renders and writes some 7,500 a second; a higher rate needs no more connections than
 * this one.
 */
const processPerMinute = 7_500 * 60;
/** The rate is divided by the quickest answer's time, but most answers take longer. */
const headroom = 1.5;
/** To one server, whatever its speed. */
export const connectionsMax = 200;
/** A process that is busier than this gains nothing from more connections. */
const busyShare = 0.9;
const idleLimitMs = 10_000;
const tickMs = 250;
/** The quickest answer of so many ticks counts. */
const measuredTicks = 8;
/** After a refused connection no other is opened for this long, as long as others work. */
const refusedPauseMs = 5_000;
/** A message is deferred once this many connections have ended before its body was sent. */
const lostMax = 2;

export type PoolOptions = {
  settings: ServerSettings;
  resolve: Resolve;
  /**
   * Whether messages may be begun; asked before each, and again four times a second. Always if
   * absent.
   */
  mayStart?: () => boolean;
  /**
   * Whether messages that are not urgent may be begun; asked likewise, and at `resume`. Always if
   * absent.
   */
  mayStartBulk?: () => boolean;
  /** Connections that are opened whatever the server's speed; 16 if absent. */
  connections?: number;
  /** Connections at most, to a slow server at a high rate. */
  connectionsMax?: number;
  timeouts?: Timeouts;
};

/**
 * The connections to one provider's server. Messages are rendered when a connection takes them;
 * callers bound how many wait.
 */
export class SmtpPool {
  readonly #options: PoolOptions;
  readonly #sessions = new Set<SmtpSession>();
  /** Taken before the others. Few messages are urgent. */
  #urgent: Outgoing[] = [];
  #queue: Outgoing[] = [];
  #head = 0;
  #dialing = 0;
  /** Taken by sessions and neither settled nor given back. */
  #inFlight = 0;
  /** Of the messages since the last tick, and of those before with the newest first. */
  #quickestMs = Number.POSITIVE_INFINITY;
  #quickestBefore: number[] = [];
  /** How long the server takes for a message, envelope to answer; 0 before it is known. */
  #answeredInMs = 0;
  #unansweredForMs = 0;
  readonly #streak = new Streak<Outgoing>();
  #utilization = performance.eventLoopUtilization();
  #isBusy = false;
  /**
   * How many messages a minute go at most; decides with the server's speed how many connections
   * they take.
   */
  perMinute: number | undefined;
  #pausedUntilMs = 0;
  #ticker: NodeJS.Timeout | undefined;
  #isClosed = false;
  readonly #host: Omit<SessionHost, 'ended'>;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.perMinute = options.settings.perMinute;
    this.#host = {
      take: () => this.#take(),
      settle: (outgoing, outcome, isFirst) => this.#settle(outgoing, outcome, isFirst),
      giveBack: (outgoing, settledSo) => this.#giveBack(outgoing, settledSo),
      measured: (messageMs) => {
        this.#quickestMs = Math.min(this.#quickestMs, messageMs);
        if (this.#answeredInMs === 0) this.#answeredInMs = messageMs;
      },
      timeouts: options.timeouts ?? defaultTimeouts,
    };
  }

  /** Whether the server has refused so many alike that it gets one message at a time. */
  get isProbing(): boolean {
    return this.#streak.isLong;
  }

  /**
   * How long the server takes for a message, as far as is known; 0 at first. One that answers
   * nothing takes longer and longer.
   */
  get messageMs(): number {
    return Math.max(this.#answeredInMs, this.#unansweredForMs);
  }

  get waiting(): number {
    return this.#urgent.length + this.#queue.length - this.#head;
  }

  get connections(): number {
    return this.#sessions.size;
  }

  /** Sends each message once a connection is free; every one is settled, whatever happens. */
  send(messages: readonly Outgoing[], { isUrgent = false } = {}): void {
    const waiting = isUrgent ? this.#urgent : this.#queue;
    for (const message of messages) waiting.push(message);
    this.#ticker ??= setInterval(() => this.#tick(), tickMs).unref();
    this.#pump();
  }

  /** Messages that were held may be begun again. */
  resume(): void {
    if (this.waiting > 0) this.#pump();
  }

  /** Settles what no connection has begun and none may begin any more. */
  dropOver(): void {
    this.#settleWaiting(isTooLate, { kind: 'not_started' });
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#ticker);
    this.#ticker = undefined;
    this.#settleWaiting(() => true, { kind: 'not_started' });
    for (const { message, outcome } of this.#streak.takeKept()) message.settle(outcome);
    for (const session of [...this.#sessions]) session.end('the pool is closed');
  }

  #take(): { outgoing: Outgoing; message: PreparedMail } | undefined {
    // After a streak the server gets one message at a time until it takes one.
    if (this.#streak.isLong && this.#inFlight > 0) return undefined;
    if (this.#options.mayStart?.() === false) return undefined;
    const isBulkHeld = this.#options.mayStartBulk?.() === false;
    for (;;) {
      const outgoing = this.#urgent.shift() ?? (isBulkHeld ? undefined : this.#nextInQueue());
      if (outgoing === undefined) return undefined;
      if (isTooLate(outgoing)) outgoing.settle({ kind: 'not_started' });
      else {
        const message = prepared(outgoing);
        if (message !== undefined) {
          this.#inFlight += 1;
          return { outgoing, message };
        }
      }
    }
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

  #settle(outgoing: Outgoing, outcome: SendOutcome, isFirst: boolean): void {
    this.#inFlight -= 1;
    const wasLong = this.#streak.isLong;
    for (const judged of this.#streak.judge(outgoing, outcome, isFirst)) {
      judged.message.settle(judged.outcome);
      const outage = outageOf(judged.outcome);
      if (outage !== undefined) this.#refuseSender(judged.message.from, outage);
    }
    if (wasLong && !this.#streak.isLong) this.#pump();
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

  /**
   * Queued first: servers that take one message a connection refuse the second, but take it as the
   * first of another.
   */
  #giveBack(outgoing: Outgoing, settledSo: SendOutcome): void {
    if (outgoing.lost >= lostMax) {
      this.#settle(outgoing, settledSo, true);
      return;
    }
    this.#inFlight -= 1;
    if (this.#isClosed || outgoing.signal.aborted) outgoing.settle({ kind: 'not_started' });
    else if (this.#head > 0) {
      this.#head -= 1;
      this.#queue[this.#head] = outgoing;
    } else this.#queue.unshift(outgoing);
  }

  #forget(session: SmtpSession): void {
    this.#sessions.delete(session);
    if (!this.#isClosed) this.#pump();
  }

  #pump(): void {
    for (const session of this.#sessions) {
      if (this.waiting === 0) return;
      session.start();
    }
    const limit = this.connectionsWanted;
    const open = () => this.#sessions.size + this.#dialing;
    if (Date.now() < this.#pausedUntilMs && this.#sessions.size > 0) return;
    while (this.#dialing < Math.min(dialsAtOnceMax, this.waiting) && open() < limit)
      void this.#open();
  }

  /**
   * A connection carries 1/latency messages a second. A busy process is the bottleneck itself and
   * gets no more.
   */
  get connectionsWanted(): number {
    const { connections = 16, connectionsMax: most = connectionsMax } = this.#options;
    if (this.#streak.isLong) return 1;
    const perMs = Math.min(this.perMinute ?? processPerMinute, processPerMinute) / 60_000;
    const needed = this.#isBusy ? 0 : this.#answeredInMs * perMs * headroom;
    return Math.min(Math.max(connections, needed), most);
  }

  async #open(): Promise<void> {
    this.#dialing += 1;
    try {
      const { settings, resolve } = this.#options;
      const dialed = await dial(settings, resolve, this.#host.timeouts);
      const ended = () => this.#forget(session);
      const session: SmtpSession = new SmtpSession(dialed, { ...this.#host, ended });
      this.#sessions.add(session);
      this.#dialing -= 1;
      if (this.#isClosed) session.end('the pool is closed');
      else session.start();
    } catch (error) {
      this.#dialing -= 1;
      this.#onRefused(error instanceof OutageError ? error.message : 'the connection failed');
      return;
    }
    this.#pump();
  }

  /**
   * With no connection left the provider is down for all waiting messages; otherwise it only allows
   * no more connections.
   */
  #onRefused(reason: string): void {
    this.#pausedUntilMs = Date.now() + refusedPauseMs;
    if (this.#sessions.size > 0 || this.#dialing > 0) return;
    this.#settleWaiting(() => true, { kind: 'outage', info: reason });
  }

  /**
   * The quickest answers show the server's own time; slower ones waited in this process or the
   * network.
   */
  #measure(): void {
    if (this.#quickestMs < Number.POSITIVE_INFINITY) {
      this.#quickestBefore = [this.#quickestMs, ...this.#quickestBefore].slice(0, measuredTicks);
      this.#answeredInMs = Math.min(...this.#quickestBefore);
      this.#quickestMs = Number.POSITIVE_INFINITY;
    }
    const ages = [...this.#sessions].map((session) => session.ageMs);
    this.#unansweredForMs = ages.length > 0 ? Math.min(...ages) : 0;
  }

  #tick(): void {
    const now = Date.now();
    const before = this.#utilization;
    this.#utilization = performance.eventLoopUtilization();
    this.#isBusy =
      performance.eventLoopUtilization(this.#utilization, before).utilization > busyShare;
    this.#measure();
    for (const session of [...this.#sessions]) {
      if (now > session.deadlineMs) session.end('the server took too long to answer');
      else if (session.isIdle && now - session.idleSinceMs > idleLimitMs) session.end('idle');
    }
    this.dropOver();
    for (const { message, outcome } of this.#streak.takeLate(this.#inFlight > 0))
      message.settle(outcome);
    if (this.waiting > 0) this.#pump();
    else if (this.#sessions.size === 0 && this.#dialing === 0 && !this.#streak.keepsAny) {
      clearInterval(this.#ticker);
      this.#ticker = undefined;
    }
  }
}

/** Renders at the last moment; a message that can't be rendered fails alone. */
function prepared(outgoing: Outgoing): PreparedMail | undefined {
  try {
    return outgoing.prepare();
  } catch (error) {
    outgoing.settle(unwritable(outgoing.failureInfo(error)));
    return undefined;
  }
}
