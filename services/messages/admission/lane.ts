import type { Log } from '#lib/log.ts';
import type { Resolve, ServerSettings } from '../providers/smtp/dial.ts';
import { SmtpPool } from '../providers/smtp/pool.ts';

/** A server whose speed is not known yet gets one batch. */
const firstWindow = 200;
/** A process renders and records no more at a time. */
const windowMax = 2_000;
/**
 * So much work lies ready beside what is in flight, while the next batch is claimed and the last
 * one recorded.
 */
const readyMs = 300;
const opensLatestMs = 60_000;
/** An outage is logged so often while it lasts. */
const outageLoggedEveryMs = 60_000;

export type LaneKey = { workspaceId: string; integrationId: string };

/** What a lane shares with the others. */
export type LaneHost = {
  resolve: (host: string, workspaceId: string) => ReturnType<Resolve>;
  /**
   * Whether a message of the workspace may be begun; not while too many outcomes wait to be
   * recorded.
   */
  mayStart: (workspaceId: string) => boolean;
  /** Whether bulk mail may be begun; not while urgent mail takes long in this process. */
  mayStartBulk: () => boolean;
  /** The lane has so many messages more, or fewer. */
  took: (count: number) => void;
  /** The lane may have room again. */
  freed: (lane: IntegrationLane) => void;
};

/**
 * An integration as this process sees it: its connections, and how many messages it may have on
 * their way.
 */
export class IntegrationLane {
  readonly workspaceId: string;
  readonly integrationId: string;
  /** Calls that wait to be admitted. */
  waiting = 0;
  /** Messages admitted, or claimed and not in the record yet. */
  readonly #taken = { bulk: 0, urgent: 0 };
  readonly #host: LaneHost;
  #pool: { pool: SmtpPool; settings: string } | undefined;
  /** No permits before, in Unix milliseconds: for bulk, and for urgent mail. */
  #opensAtMs = { bulk: 0, urgent: 0 };
  /** When an outage was logged last, in Unix milliseconds; 0 while the server takes mail. */
  #outageLoggedAtMs = 0;

  constructor(key: LaneKey, host: LaneHost) {
    this.workspaceId = key.workspaceId;
    this.integrationId = key.integrationId;
    this.#host = host;
  }

  get taken(): number {
    return this.#taken.bulk + this.#taken.urgent;
  }

  get takenUrgent(): number {
    return this.#taken.urgent;
  }

  get isIdle(): boolean {
    return this.taken + this.waiting === 0;
  }

  /**
   * Logs that the server takes no mail, and that it takes mail again. `outage` holds no addresses.
   */
  noteRun(log: Log, { outage, hasSent }: { outage: string; hasSent: boolean }): void {
    const about = { workspaceId: this.workspaceId, integrationId: this.integrationId };
    if (outage === '') {
      if (!hasSent || this.#outageLoggedAtMs === 0) return;
      this.#outageLoggedAtMs = 0;
      log.info(about, 'the mail server takes mail again');
    } else if (Date.now() - this.#outageLoggedAtMs > outageLoggedEveryMs) {
      this.#outageLoggedAtMs = Date.now();
      log.warn({ ...about, reason: outage }, 'the mail server takes no mail; trying again later');
    }
  }

  /** Whether the server took no mail when it was tried last. */
  get hasOutage(): boolean {
    return this.#outageLoggedAtMs !== 0;
  }

  get mayStart(): boolean {
    return this.#host.mayStart(this.workspaceId);
  }

  /** The connections to the server; undefined before the first message. */
  get server(): SmtpPool | undefined {
    return this.#pool?.pool;
  }

  /**
   * How many messages may be on their way: what fills the connections for the time of a message and
   * a moment more.
   */
  get window(): number {
    const pool = this.#pool?.pool;
    if (!pool) return firstWindow;
    if (pool.isProbing) return 1;
    const { messageMs, connectionsWanted } = pool;
    if (messageMs === 0) return firstWindow;
    const ready = 1 + readyMs / messageMs;
    return Math.min(windowMax, Math.ceil(connectionsWanted * ready));
  }

  /**
   * The connections to the integration's server; others than before once its settings have changed.
   */
  pool({ perMinute, ...settings }: ServerSettings, replicas: number): SmtpPool {
    const now = JSON.stringify(settings);
    if (this.#pool?.settings !== now) {
      // The old connections end by themselves when nothing is left to send on them.
      const pool = new SmtpPool({
        settings: { perMinute, ...settings },
        resolve: (host) => this.#host.resolve(host, this.workspaceId),
        mayStart: () => this.mayStart,
        mayStartBulk: this.#host.mayStartBulk,
      });
      this.#pool = { pool, settings: now };
    }
    const { pool } = this.#pool;
    // The connections are as good at another rate.
    pool.perMinute = perMinute && perMinute / replicas;
    return pool;
  }

  /** Milliseconds until there are permits again, as far as this process knows. */
  opensInMs(isUrgent: boolean, nowMs = Date.now()): number {
    return Math.max(0, this.#opensAtMs[isUrgent ? 'urgent' : 'bulk'] - nowMs);
  }

  /** There are no permits for so long. Urgent mail has some when bulk has none. */
  close(forMs: number, isUrgent: boolean): void {
    const waitMs = Math.min(forMs, opensLatestMs);
    const opensAtMs = Date.now() + waitMs;
    this.#opensAtMs.bulk = opensAtMs;
    if (isUrgent) this.#opensAtMs.urgent = opensAtMs;
    // A timer may run a millisecond early by the clock that `opensInMs` reads.
    setTimeout(() => this.#host.freed(this), waitMs + 2).unref();
  }

  /** Messages are admitted, or held. */
  take(count: number, isUrgent = false): void {
    this.#taken[isUrgent ? 'urgent' : 'bulk'] += count;
    this.#host.took(count);
  }

  /** Messages were not claimed, are in the record, or were given back. */
  release(count: number, isUrgent = false): void {
    this.#taken[isUrgent ? 'urgent' : 'bulk'] -= count;
    this.#host.took(-count);
    this.#host.freed(this);
  }

  end(): void {
    this.#pool?.pool.close();
  }
}
