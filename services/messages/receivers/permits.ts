import { createCache } from '#lib/cache.ts';
import { LruMap } from '#lib/collections/lru-map.ts';
import type { Log } from '#lib/log.ts';
import type { Store } from '#lib/postgres/store.ts';
import {
  drawReceiverPermits,
  findSlowed,
  type IntegrationKey,
  type PaceTimes,
  paceTimes,
  type ReceiverDraw,
  type ReceiverGrant,
  type ReceiverWish,
  returnReceiverPermits,
  slowReceiver,
} from './rate.ts';
import { isKnownReceiver, limitsOf, type ReceiverRates } from './table.ts';

export type PermitsContext = {
  store: Store;
  log: Log;
  /** Limits by group that an operator has set. */
  rates: ReceiverRates;
  times?: PaceTimes;
};

/** Permits that are not used by then go back. */
const leaseKeptMs = 1_000;
const leasesMax = 10_000;
/**
 * A process sends this share of its rate to a group that no table names without a draw: most
 * domains get a mail now and then, and would have a row and a statement each.
 */
const freeShare = 1 / 20;
const freeMax = 10_000;
/** How old what is known of slowed groups may be. */
const slowedKeptMs = 2_000;
const integrationsMax = 1_000;

/** Permits that were drawn ahead, or come back. */
type Lease = {
  key: IntegrationKey & { receiver: string };
  count: number;
  date: string;
  timer: NodeJS.Timeout;
};

/** Messages that a process may send to a group without a draw. */
type Allowance = { tokens: number; atMs: number };

/** The state of a group as the last draw of this process found it. */
type Known = Pick<ReceiverGrant, 'isSlowed' | 'replicas'>;

/**
 * The permits of this process to send to groups of receivers. A batch draws for all of its groups
 * in one statement, and for a group that is asked for rarely in none. Permits for urgent mail are
 * drawn ahead.
 */
export class ReceiverPermits {
  readonly #context: PermitsContext;
  readonly #times: PaceTimes;
  readonly #leases = new LruMap<Lease>({
    max: leasesMax,
    dispose: (lease) => this.#end(lease),
  });
  readonly #free = new LruMap<Allowance>({ max: freeMax });
  readonly #known = new LruMap<Known>({ max: leasesMax });
  readonly #slowed = createCache<ReadonlySet<string>>({
    entriesMax: integrationsMax,
    keepMs: slowedKeptMs,
  });
  /** Permits on their way back. */
  readonly #returning = new Set<Promise<void>>();

  constructor(context: PermitsContext) {
    this.#context = context;
    this.#times = context.times ?? paceTimes;
  }

  get times(): PaceTimes {
    return this.#times;
  }

  /** Draws what is wanted of each group; gives the permits by group. */
  async take(
    key: IntegrationKey,
    wanted: ReadonlyMap<string, number>,
    draw: ReceiverDraw,
  ): Promise<ReadonlyMap<string, ReceiverGrant>> {
    const slowed = await this.#slowedOf(key);
    const grants = new Map<string, ReceiverGrant>();
    const atHand = new Map<string, number>();
    const wishes: ReceiverWish[] = [];
    for (const [receiver, count] of wanted) {
      const name = nameOf(key, receiver);
      const { perSecond } = limitsOf(receiver, this.#context.rates);
      const isNamed = this.#isNamed(receiver);
      const isRare = !isNamed && draw.today.limit === undefined;
      if (isRare && !slowed.has(receiver) && this.#takeFree(name, count, perSecond)) {
        this.#known.delete(name);
        grants.set(receiver, givenHere(receiver, count, draw.today.date));
        continue;
      }
      const leased = this.#takeLeased(name, count, draw.today.date);
      atHand.set(receiver, leased);
      grants.set(receiver, givenHere(receiver, leased, draw.today.date));
      const ahead = draw.isUrgent ? Math.floor(perSecond / 10) : 0;
      const isAhead = ahead > 0 && draw.today.limit === undefined && !slowed.has(receiver);
      if (leased < count) {
        const missing = count - leased + (isAhead ? ahead : 0);
        wishes.push({ receiver, wanted: missing, perSecond, isNamed });
      }
    }
    if (wishes.length === 0) return grants;
    const { horizonMs } = this.#times;
    const asked = { ...draw, wishes, horizonMs };
    const drawn = await drawReceiverPermits(this.#context.store, key, asked).catch((error) => {
      for (const [receiver, count] of atHand) {
        this.#keep({ ...key, receiver }, count, draw.today.date);
      }
      throw error;
    });
    for (const [receiver, grant] of drawn) {
      const leased = atHand.get(receiver) ?? 0;
      const missing = (wanted.get(receiver) ?? 0) - leased;
      const count = Math.min(grant.count, missing);
      const { isSlowed, replicas } = grant;
      this.#known.set(nameOf(key, receiver), { isSlowed, replicas });
      grants.set(receiver, { ...grant, count: leased + count });
      this.#keep({ ...key, receiver }, grant.count - count, grant.date);
    }
    return grants;
  }

  /** Mails to a group that this process may have on their way at a time. */
  atOnce(key: IntegrationKey, receiver: string): number {
    const { isSlowed = false, replicas = 1 } = this.#known.get(nameOf(key, receiver)) ?? {};
    const { atOnce } = limitsOf(receiver, this.#context.rates);
    return isSlowed ? 1 : Math.max(1, Math.floor(atOnce / Math.max(1, replicas)));
  }

  /** Permits that were not used are there for the next batch, and go back after a moment. */
  giveBack(
    key: IntegrationKey & { receiver: string },
    { count, date }: { count: number; date: string },
  ): void {
    this.#keep(key, count, date);
  }

  /** The receiver has asked for less mail; says whether it gets less from now on. */
  async slow(
    key: IntegrationKey & { receiver: string },
    { minutes, begunMsAgo }: { minutes: number; begunMsAgo: number },
  ): Promise<boolean> {
    const { store, rates } = this.#context;
    const { perSecond } = limitsOf(key.receiver, rates);
    const forMs = minutes * this.#times.minuteMs;
    const isSlower = await slowReceiver(store, key, { perSecond, forMs, begunMsAgo });
    if (!isSlower) return false;
    const name = nameOf(key, key.receiver);
    this.#slowed.drop((each) => each === integrationOf(key));
    // Permits of the rate before count for nothing.
    const lease = this.#leases.get(name);
    if (lease) lease.count = 0;
    this.#known.set(name, { isSlowed: true, replicas: this.#known.get(name)?.replicas ?? 1 });
    return true;
  }

  /** Resolves when what is left is put back. */
  async close(): Promise<void> {
    this.#leases.clear();
    await Promise.all(this.#returning);
  }

  #isNamed(receiver: string): boolean {
    return isKnownReceiver(receiver) || this.#context.rates.has(receiver);
  }

  #slowedOf(key: IntegrationKey): Promise<ReadonlySet<string>> {
    return this.#slowed(integrationOf(key), () => findSlowed(this.#context.store, key));
  }

  /** Whether the process may send as many to the group without a draw. */
  #takeFree(name: string, count: number, perSecond: number): boolean {
    const nowMs = performance.now();
    const most = Math.max(1, perSecond * freeShare);
    const { tokens, atMs } = this.#free.get(name) ?? { tokens: most, atMs: nowMs };
    const filled = Math.min(most, tokens + (most * (nowMs - atMs)) / 1_000);
    if (filled < count) return false;
    this.#free.set(name, { tokens: filled - count, atMs: nowMs });
    return true;
  }

  #takeLeased(name: string, wanted: number, date: string): number {
    const lease = this.#leases.get(name);
    if (!lease || lease.date !== date) return 0;
    const count = Math.min(lease.count, wanted);
    lease.count -= count;
    return count;
  }

  #keep(key: Lease['key'], count: number, date: string): void {
    if (count <= 0) return;
    const name = nameOf(key, key.receiver);
    const lease = this.#leases.get(name);
    if (lease?.date === date) {
      lease.count += count;
      return;
    }
    const timer = setTimeout(() => this.#leases.delete(name), leaseKeptMs).unref();
    this.#leases.set(name, { key, count, date, timer });
  }

  #end({ key, count, date, timer }: Lease): void {
    clearTimeout(timer);
    if (count === 0) return;
    const { store, log } = this.#context;
    const returning = returnReceiverPermits(store, key, { count, date })
      .catch((err: unknown) => log.warn({ err, count }, 'permits to send could not be put back'))
      .finally(() => this.#returning.delete(returning));
    this.#returning.add(returning);
  }
}

function integrationOf({ workspaceId, integrationId }: IntegrationKey): string {
  return `${workspaceId} ${integrationId}`;
}

function nameOf(key: IntegrationKey, receiver: string): string {
  return `${integrationOf(key)} ${receiver}`;
}

/** Permits that needed no draw. */
function givenHere(group: string, count: number, date: string): ReceiverGrant {
  const turns = { fromMs: 0, untilMs: 0 };
  return { group, count, date, turns, isDaySpent: false, isSlowed: false, replicas: 1 };
}
