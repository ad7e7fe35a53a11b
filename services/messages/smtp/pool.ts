import type { Prepared } from '../render/compose.ts';
import { unrenderedInfo } from '../unrendered.ts';
import {
  defaultTimeouts,
  dial,
  OutageError,
  type Resolve,
  type ServerSettings,
  type Timeouts,
} from './dial.ts';
import { type Outgoing, Session, type SessionHost } from './session.ts';

const dialsAtOnceMax = 8;
/** Beyond this, more connections than the default pay off: one carries 1/latency messages a second. */
const slowServerMs = 5;
export const connectionsMax = 200;
const idleLimitMs = 10_000;
const tickMs = 250;
/** After a refused connection, while others work, the server is not asked for more for a while. */
const refusedPauseMs = 5_000;
/** A message whose connections end before its body, so often, is put off and not sent round for ever. */
const lostMax = 2;

export type PoolOptions = {
  settings: ServerSettings;
  resolve: Resolve;
  /** Connections to a fast server; 16 if absent. */
  connections?: number;
  /** Connections to a slow one; `connectionsMax` if absent. */
  connectionsMax?: number;
  timeouts?: Timeouts;
};

/** The connections to one provider's server. Messages wait here unrendered; callers bound how many. */
export class SmtpPool {
  readonly #options: PoolOptions;
  readonly #sessions = new Set<Session>();
  #queue: Outgoing[] = [];
  #head = 0;
  #dialing = 0;
  #latencyMs = 0;
  #pausedUntilMs = 0;
  #ticker: NodeJS.Timeout | undefined;
  #isClosed = false;
  readonly #host: SessionHost;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#host = {
      take: () => this.#take(),
      giveBack: (outgoing) => this.#giveBack(outgoing),
      ended: (session) => this.#forget(session),
      measured: (latencyMs) => {
        // The quickest answers are the server's own time; the others wait in our process or the network.
        this.#latencyMs = Math.min(latencyMs, this.#latencyMs * 1.02 + 0.01);
      },
      timeouts: options.timeouts ?? defaultTimeouts,
    };
  }

  get waiting(): number {
    return this.#queue.length - this.#head;
  }

  get connections(): number {
    return this.#sessions.size;
  }

  /** Sends each message once a connection is free; every one is settled, whatever happens. */
  send(messages: readonly Outgoing[]): void {
    for (const message of messages) this.#queue.push(message);
    this.#ticker ??= setInterval(() => this.#tick(), tickMs).unref();
    this.#pump();
  }

  /** Settles what a signal has aborted and no connection has begun. */
  dropAborted(): void {
    const waiting = this.#queue.slice(this.#head);
    this.#head = 0;
    this.#queue = waiting.filter(({ signal }) => !signal.aborted);
    for (const message of waiting)
      if (message.signal.aborted) message.settle({ kind: 'not_started' });
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#ticker);
    this.#ticker = undefined;
    this.#settleAll((message) => message.settle({ kind: 'not_started' }));
    for (const session of [...this.#sessions]) session.end('the pool is closed');
  }

  #take(): { outgoing: Outgoing; message: Prepared } | undefined {
    for (;;) {
      const outgoing = this.#queue[this.#head];
      if (outgoing === undefined) return undefined;
      this.#head += 1;
      if (this.#head === this.#queue.length) {
        this.#queue = [];
        this.#head = 0;
      }
      if (outgoing.signal.aborted || Date.now() >= outgoing.leaseUntilMs)
        outgoing.settle({ kind: 'not_started' });
      else {
        const message = prepared(outgoing);
        if (message !== undefined) return { outgoing, message };
      }
    }
  }

  #giveBack(outgoing: Outgoing): void {
    if (outgoing.lost >= lostMax) {
      outgoing.settle({
        kind: 'deferred',
        info: 'the connection was lost before the message was sent',
      });
    } else if (this.#isClosed || outgoing.signal.aborted) outgoing.settle({ kind: 'not_started' });
    else this.#queue.push(outgoing);
  }

  #forget(session: Session): void {
    this.#sessions.delete(session);
    if (!this.#isClosed) this.#pump();
  }

  #pump(): void {
    for (const session of this.#sessions) {
      if (this.waiting === 0) return;
      session.start();
    }
    const { connections = 16, connectionsMax: most = connectionsMax } = this.#options;
    const limit = this.#latencyMs > slowServerMs ? most : Math.min(connections, most);
    const open = () => this.#sessions.size + this.#dialing;
    if (Date.now() < this.#pausedUntilMs && this.#sessions.size > 0) return;
    while (this.#dialing < Math.min(dialsAtOnceMax, this.waiting) && open() < limit)
      void this.#open();
  }

  async #open(): Promise<void> {
    this.#dialing += 1;
    try {
      const { settings, resolve } = this.#options;
      const dialed = await dial(settings, resolve, this.#host.timeouts);
      const session = new Session(dialed, this.#host);
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

  /** With no connection left the provider is down for everybody who waits; otherwise it takes no more of them. */
  #onRefused(reason: string): void {
    this.#pausedUntilMs = Date.now() + refusedPauseMs;
    if (this.#sessions.size > 0 || this.#dialing > 0) return;
    this.#settleAll((message) => message.settle({ kind: 'outage', info: reason }));
  }

  #settleAll(settle: (message: Outgoing) => void): void {
    const waiting = this.#queue.slice(this.#head);
    this.#queue = [];
    this.#head = 0;
    for (const message of waiting) settle(message);
  }

  #tick(): void {
    const now = Date.now();
    for (const session of [...this.#sessions]) {
      if (now > session.deadlineMs) session.end('the server took too long to answer');
      else if (session.isIdle && now - session.idleSinceMs > idleLimitMs) session.end('idle');
    }
    if (this.waiting > 0) this.#pump();
    else if (this.#sessions.size === 0 && this.#dialing === 0) {
      clearInterval(this.#ticker);
      this.#ticker = undefined;
    }
  }
}

/** Renders at the last moment; what can't be rendered fails alone. */
function prepared(outgoing: Outgoing): Prepared | undefined {
  try {
    return outgoing.prepare();
  } catch (error) {
    outgoing.settle({ kind: 'failed', code: 0, enhanced: '', info: unrenderedInfo(error) });
    return undefined;
  }
}
