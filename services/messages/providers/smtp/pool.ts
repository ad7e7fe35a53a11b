import type { Outgoing } from '../outgoing.ts';
import type { Sender, SenderHost } from '../provider.ts';
import { OutgoingQueue } from '../queue.ts';
import { defaultTimeouts, dial, OutageError, type ServerSettings, type Timeouts } from './dial.ts';
import { type SessionHost, SmtpSession } from './session.ts';

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
/** The quickest answer of this many ticks counts. */
const measuredTicks = 8;
/** After a refused connection no other is opened for this long, while others are open or opened. */
const refusedPauseMs = 5_000;

export type PoolOptions = SenderHost & {
  settings: ServerSettings;
  /** Connections that are opened whatever the server's speed; 16 if absent. */
  connections?: number;
  /** Connections at most, to a slow server at a high rate. */
  connectionsMax?: number;
  timeouts?: Timeouts;
};

/** The connections to one server. */
export class SmtpPool implements Sender {
  readonly #options: PoolOptions;
  readonly #sessions = new Set<SmtpSession>();
  readonly #queue: OutgoingQueue;
  #dialing = 0;
  /** Of the messages since the last tick, and of those before with the newest first. */
  #quickestMs = Number.POSITIVE_INFINITY;
  #quickestBefore: number[] = [];
  /** How long the server takes for a message, envelope to answer; 0 before it is known. */
  #answeredInMs = 0;
  #unansweredForMs = 0;
  #utilization = performance.eventLoopUtilization();
  #isBusy = false;
  /**
   * How many messages a minute go at most; decides with the server's speed how many connections
   * they take.
   */
  perMinute: number | undefined;
  #pausedUntilMs = 0;
  /** Until an outage; 0 while none was refused since the last connection. */
  #refusalsLeft = 0;
  #ticker: NodeJS.Timeout | undefined;
  #isClosed = false;
  readonly #host: Omit<SessionHost, 'ended'>;

  constructor(options: PoolOptions) {
    this.#options = options;
    const queue = new OutgoingQueue(options, () => this.#pump());
    this.#queue = queue;
    this.#host = {
      take: () => queue.take(),
      settle: (outgoing, outcome, isFirst) => queue.settle(outgoing, outcome, isFirst),
      giveBack: (outgoing, settledSo) => queue.giveBack(outgoing, settledSo),
      measured: (messageMs) => {
        this.#quickestMs = Math.min(this.#quickestMs, messageMs);
        if (this.#answeredInMs === 0) this.#answeredInMs = messageMs;
      },
      timeouts: options.timeouts ?? defaultTimeouts,
    };
  }

  get isProbing(): boolean {
    return this.#queue.isProbing;
  }

  /** A server that answers nothing takes longer and longer. */
  get messageMs(): number {
    return Math.max(this.#answeredInMs, this.#unansweredForMs);
  }

  get waiting(): number {
    return this.#queue.waiting;
  }

  get connections(): number {
    return this.#sessions.size;
  }

  send(messages: readonly Outgoing[], { isUrgent = false } = {}): void {
    this.#queue.add(messages, isUrgent);
    this.#ticker ??= setInterval(() => this.#tick(), tickMs).unref();
    this.#pump();
  }

  resume(): void {
    if (this.waiting > 0) this.#pump();
  }

  dropOver(): void {
    this.#queue.dropOver();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#ticker);
    this.#ticker = undefined;
    this.#queue.close();
    for (const session of [...this.#sessions]) session.end('the pool is closed');
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
    const limit = this.atOnce;
    const open = () => this.#sessions.size + this.#dialing;
    if (Date.now() < this.#pausedUntilMs && open() > 0) return;
    while (this.#dialing < Math.min(dialsAtOnceMax, this.waiting) && open() < limit)
      void this.#open();
  }

  /**
   * A connection carries 1/latency messages a second. A busy process is the bottleneck itself and
   * gets no more.
   */
  get atOnce(): number {
    const { connections = 16, connectionsMax: most = connectionsMax } = this.#options;
    if (this.isProbing) return 1;
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
      this.#refusalsLeft = 0;
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
   * With no connection left the provider is down for all waiting messages, once as many were
   * refused in a row as were being opened at the first; otherwise it only allows no more
   * connections.
   */
  #onRefused(reason: string): void {
    this.#pausedUntilMs = Date.now() + refusedPauseMs;
    if (this.#sessions.size > 0) {
      this.#refusalsLeft = 0;
      return;
    }
    this.#refusalsLeft = (this.#refusalsLeft || this.#dialing + 1) - 1;
    if (this.#refusalsLeft === 0) this.#queue.refuseAll(reason);
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
    this.#queue.settleKept();
    if (this.waiting > 0) this.#pump();
    else if (this.#sessions.size === 0 && this.#dialing === 0 && !this.#queue.keepsAny) {
      clearInterval(this.#ticker);
      this.#ticker = undefined;
    }
  }
}
