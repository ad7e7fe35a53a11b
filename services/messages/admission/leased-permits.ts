import { LruMap } from '#lib/collections/lru-map.ts';
import type { Log } from '#lib/log.ts';
import type { Store } from '#lib/postgres/store.ts';
import { type Draw, type Permits, type RateKey, returnPermits, takePermits } from './rate.ts';

/**
 * Permits that are not used by then go back. Shorter than the time after which a process that draws
 * none counts as gone.
 */
const keptDefaultMs = 5_000;
/** A lease is a tenth of a second's permits, and no more than this. */
const leaseMax = 200;
const integrationsMax = 1_000;

type Lease = {
  count: number;
  replicas: number;
  date: string;
  rate: RateKey;
  timer: NodeJS.Timeout;
};

/**
 * The permits of this process. Permits for urgent mail are drawn ahead: a message that comes alone
 * is not worth a statement. Bulk mail, and integrations with a low rate or a limit of the day, draw
 * what is needed.
 */
export class LeasedPermits {
  readonly #context: { store: Store; log: Log };
  readonly #keptMs: number;
  readonly #leases = new LruMap<Lease>({
    max: integrationsMax,
    dispose: (lease) => this.#end(lease),
  });
  /** Permits on their way back. */
  readonly #returning = new Set<Promise<void>>();

  constructor(context: { store: Store; log: Log }, keptMs = keptDefaultMs) {
    this.#context = context;
    this.#keptMs = keptMs;
  }

  async take(rate: RateKey, draw: Draw): Promise<Permits> {
    if (!draw.isUrgent) return takePermits(this.#context.store, rate, draw);
    const { wanted, today } = draw;
    const key = `${rate.workspaceId} ${rate.integrationId}`;
    const lease = this.#leases.get(key);
    if (lease && lease.count >= wanted) {
      lease.count -= wanted;
      const { replicas, date } = lease;
      return { count: wanted, waitMs: 0, isDaySpent: false, date, replicas };
    }
    const perSecond = rate.perMinute / 60;
    const ahead = today.limit === undefined ? Math.min(leaseMax, Math.floor(perSecond / 10)) : 0;
    const permits = await takePermits(this.#context.store, rate, {
      ...draw,
      wanted: wanted + ahead,
    });
    const count = Math.min(wanted, permits.count);
    if (permits.count > count) this.#keep(key, rate, { ...permits, count: permits.count - count });
    return { ...permits, count };
  }

  /** Puts back what was not used; what cannot be put back is lost. */
  async giveBack(rate: RateKey, count: number, date: string): Promise<void> {
    const { store, log } = this.#context;
    try {
      await returnPermits(store, rate, count, date);
    } catch (err) {
      log.warn({ err, count }, 'permits to send could not be put back');
    }
  }

  /**
   * Resolves when what is left is put back: a statement that begins while the pool closes would
   * never end.
   */
  async close(): Promise<void> {
    this.#leases.clear();
    await Promise.all(this.#returning);
  }

  #keep(key: string, rate: RateKey, { count, replicas, date }: Permits): void {
    const timer = setTimeout(() => this.#leases.delete(key), this.#keptMs).unref();
    // Ends the lease before it, which was too small.
    this.#leases.set(key, { count, replicas, date, rate, timer });
  }

  #end({ count, date, rate, timer }: Lease): void {
    clearTimeout(timer);
    const returning = this.giveBack(rate, count, date).finally(() =>
      this.#returning.delete(returning),
    );
    this.#returning.add(returning);
  }
}
