import type { Log } from '#lib/log.ts';
import type { Sender, SenderHost, Transport } from '../providers/provider.ts';
import { windowOf } from './window.ts';

const opensLatestMs = 60_000;
/** Time between log entries of an outage that lasts. */
const outageLoggedEveryMs = 60_000;

export type LaneKey = { workspaceId: string; integrationId: string };

/** The part of a process that its lanes share. */
export type LaneHost = {
  resolve: (host: string, workspaceId: string) => ReturnType<SenderHost['resolve']>;
  /**
   * Whether a message of the workspace may be begun; not while too many outcomes wait to be
   * recorded.
   */
  mayStart: (workspaceId: string) => boolean;
  /**
   * Whether the lane may begin bulk mail; not while urgent mail takes long in this process. The
   * sender of one that may not is resumed once it may.
   */
  mayStartBulk: (lane: IntegrationLane) => boolean;
  /** The lane has `count` more messages, or fewer if negative. */
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
  #opened: { sender: Sender; key: string } | undefined;
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

  /** The connections to the provider; undefined before the first message. */
  get sender(): Sender | undefined {
    return this.#opened?.sender;
  }

  /** How many messages may be on their way. */
  get window(): number {
    return windowOf(this.sender);
  }

  /** The connections; others than before once the integration's settings have changed. */
  open({ key, open }: Transport, perMinute: number): Sender {
    if (this.#opened?.key !== key) {
      // The old connections end by themselves when nothing is left to send on them.
      const sender = open({
        workspaceId: this.workspaceId,
        resolve: (host) => this.#host.resolve(host, this.workspaceId),
        mayStart: () => this.mayStart,
        mayStartBulk: () => this.#host.mayStartBulk(this),
      });
      this.#opened = { sender, key };
    }
    const { sender } = this.#opened;
    // The connections are as good at another rate.
    sender.perMinute = perMinute;
    return sender;
  }

  /** Milliseconds until there are permits again, as far as this process knows. */
  opensInMs(isUrgent: boolean, nowMs = Date.now()): number {
    return Math.max(0, this.#opensAtMs[isUrgent ? 'urgent' : 'bulk'] - nowMs);
  }

  /**
   * Closes the lane until there are permits again. Urgent mail may have some when bulk has none.
   */
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
    this.sender?.close();
  }
}
