/*
 * Admission: whose messages are claimed next in this process.
 *
 * A call waits here with nothing in its hands: no claim, no connection, no permit. It is admitted
 * when its lane (an integration) has room, in the turn of its workspace: deficit round robin,
 * measured in messages, urgent mail before bulk within a workspace.
 *
 * Limits: four claims at a time; 10,000 messages held by the process, of which a lane takes at most
 * what all leave free; the lane's window, which its server's speed sets; 2,000 calls that wait, 200
 * of a workspace; 1 s (bulk) or 5 s (urgent), then the caller gets `retryAfterMs`.
 *
 * Beside urgent mail, bulk is held or has short turns (`bulk-pace.ts`); lanes go on in the order in
 * which they were held. Next: `admit.ts` draws permits.
 */

import { BulkPace } from './bulk-pace.ts';
import { IntegrationLane, type LaneHost, type LaneKey } from './lane.ts';

export type AdmissionLimits = {
  /**
   * Calls that look up and claim at a time; each uses the processor and a connection of the
   * database.
   */
  claimingMax: number;
  /** Messages that may be claimed and not recorded, over all lanes. */
  heldMax: number;
  /** Longest wait; then the caller gets `retryAfterMs`. People wait for urgent mail. */
  waitMaxMs: { bulk: number; urgent: number };
  waitingMax: number;
  waitingPerWorkspaceMax: number;
};

export const admissionLimits: AdmissionLimits = {
  claimingMax: 4,
  heldMax: 10_000,
  waitMaxMs: { bulk: 1_000, urgent: 5_000 },
  waitingMax: 2_000,
  waitingPerWorkspaceMax: 200,
};

/** A turn in the round; the largest batch, so that each visit serves at least one call. */
const quantum = 200;
/**
 * A call is not admitted for fewer messages than this share of its lane's window, unless it has no
 * more.
 */
const leastShare = 1 / 8;
const lanesMax = 1_000;
const askAgainMs = 250;

export type Wish = {
  lane: IntegrationLane;
  size: number;
  /** Single and transactional mail, which comes before bulk. */
  isUrgent: boolean;
  signal: AbortSignal;
};

/**
 * Room for `size` messages, which `leave` gives up as far as they are not held; or, with size 0,
 * when to ask again.
 */
export type AdmissionTurn = { size: number; retryAfterMs: number; leave: () => void };

type Waiting = Wish & { answer: (turn: AdmissionTurn) => void };

/** A call with room for `size` of its messages; a moment later there may be none. */
type Next = { tenant: Tenant; waiting: Waiting; size: number };

/** The calls of a workspace that wait, and what it has over from its last turn. */
class Tenant {
  readonly urgent: Waiting[] = [];
  readonly bulk: Waiting[] = [];
  credit = 0;

  get size(): number {
    return this.urgent.length + this.bulk.length;
  }

  queueOf({ isUrgent }: Wish): Waiting[] {
    return isUrgent ? this.urgent : this.bulk;
  }

  remove(waiting: Waiting): void {
    const queue = this.queueOf(waiting);
    queue.splice(queue.indexOf(waiting), 1);
  }
}

/**
 * Decides whose messages are claimed next. Calls wait without a slot, a connection or a claim;
 * workspaces take turns, measured in messages; a lane has no more on its way than its server takes,
 * of bulk mail and again of urgent mail, and never all that the process may hold.
 */
export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #host: LaneHost;
  /** Least recently used first. */
  readonly #lanes = new Map<string, IntegrationLane>();
  /** Workspaces with waiting calls, in the order of their turns. */
  readonly #tenants = new Map<string, Tenant>();
  #waiting = 0;
  #claiming = 0;
  /** Messages that all lanes have taken. */
  #taken = 0;
  #isDispatching = false;
  readonly #bulkPace = new BulkPace();
  /** Lanes whose bulk mail is held, the first one first. */
  readonly #held = new Set<IntegrationLane>();

  constructor(
    { resolve, mayStart }: Pick<LaneHost, 'resolve' | 'mayStart'>,
    limits: AdmissionLimits = admissionLimits,
  ) {
    this.#limits = limits;
    this.#host = {
      resolve,
      mayStart,
      mayStartBulk: (lane) => this.#mayStartBulk(lane),
      took: (count) => {
        this.#taken += count;
      },
      freed: (lane) => {
        // Another lane gains room only where all of them together are short of it.
        if (lane.waiting > 0 || this.#taken > limits.heldMax / 2) this.#dispatchSoon();
      },
    };
  }

  get lanes(): readonly IntegrationLane[] {
    return [...this.#lanes.values()];
  }

  /** The integration's lane. One that is idle may be forgotten when there are many. */
  lane(key: LaneKey): IntegrationLane {
    const name = `${key.workspaceId} ${key.integrationId}`;
    const lane = this.#lanes.get(name) ?? new IntegrationLane(key, this.#host);
    this.#lanes.delete(name);
    this.#lanes.set(name, lane);
    if (this.#lanes.size > lanesMax) this.#forgetIdle();
    return lane;
  }

  /** Waits for room, fairly, for a moment at most. */
  enter(wish: Wish): Promise<AdmissionTurn> {
    const opensInMs = wish.lane.opensInMs(wish.isUrgent);
    const waitMaxMs = this.#limits.waitMaxMs[wish.isUrgent ? 'urgent' : 'bulk'];
    if (wish.signal.aborted) return Promise.resolve(refused(0));
    if (opensInMs > waitMaxMs) return Promise.resolve(refused(opensInMs));
    const tenant = this.#tenants.get(wish.lane.workspaceId) ?? new Tenant();
    const { waitingMax, waitingPerWorkspaceMax } = this.#limits;
    if (this.#waiting >= waitingMax || tenant.size >= waitingPerWorkspaceMax) {
      return Promise.resolve(refused(askAgainMs));
    }
    this.#tenants.set(wish.lane.workspaceId, tenant);
    return this.#wait(tenant, wish, waitMaxMs);
  }

  /**
   * How long an urgent message took from its call to its commit; bulk mail is held while that is
   * long.
   */
  urgentTook(workspaceId: string, tookMs: number): void {
    const holdMs = this.#bulkPace.urgentTook(workspaceId, tookMs, performance.now());
    this.#freeBulkAfter(holdMs);
    this.#freeBulk();
  }

  /** An urgent call begins, to which bulk mail gives way; gives what is called at its end. */
  urgentBegan(): () => void {
    this.#freeBulkAfter(this.#bulkPace.urgentBegan(performance.now()));
    return () => {
      this.#bulkPace.urgentEnded(performance.now());
      this.#freeBulk();
    };
  }

  /**
   * As `enter`, without waiting: nothing where there is no room, or others of the lane wait for it.
   */
  tryEnter({ lane, size, isUrgent }: Omit<Wish, 'signal'>): AdmissionTurn {
    const isAhead = (waiting: Waiting) => waiting.lane === lane;
    if (this.#tenants.get(lane.workspaceId)?.urgent.some(isAhead)) return refused(0);
    const room = this.#roomFor({ lane, size, isUrgent }, Date.now());
    if (room === 0) return refused(0);
    lane.take(room, isUrgent);
    let isOver = false;
    const leave = () => {
      if (isOver) return;
      isOver = true;
      lane.release(room, isUrgent);
    };
    return { size: room, retryAfterMs: 0, leave };
  }

  close(): void {
    for (const lane of this.#lanes.values()) lane.end();
  }

  #wait(tenant: Tenant, wish: Wish, waitMaxMs: number): Promise<AdmissionTurn> {
    const { promise, resolve } = Promise.withResolvers<AdmissionTurn>();
    const giveUp = () => {
      tenant.remove(waiting);
      waiting.answer(refused(Math.max(askAgainMs, wish.lane.opensInMs(wish.isUrgent))));
    };
    const timer = setTimeout(giveUp, waitMaxMs);
    const waiting: Waiting = {
      ...wish,
      answer: (turn) => {
        clearTimeout(timer);
        wish.signal.removeEventListener('abort', giveUp);
        this.#waiting -= 1;
        wish.lane.waiting -= 1;
        if (tenant.size === 0) this.#tenants.delete(wish.lane.workspaceId);
        resolve(turn);
      },
    };
    wish.signal.addEventListener('abort', giveUp, { once: true });
    this.#waiting += 1;
    wish.lane.waiting += 1;
    tenant.queueOf(wish).push(waiting);
    this.#dispatch();
    return promise;
  }

  /** By a clock that nobody sets. */
  get #isBulkHeld(): boolean {
    return this.#bulkPace.isHeld(performance.now());
  }

  #mayStartBulk(lane: IntegrationLane): boolean {
    const nowMs = performance.now();
    if (this.#bulkPace.isHeld(nowMs)) {
      this.#held.add(lane);
      return false;
    }
    if (this.#bulkPace.beginTurn(nowMs)) setImmediate(() => this.#endTurn());
    return true;
  }

  #endTurn(): void {
    const restMs = this.#bulkPace.endTurn(performance.now());
    if (restMs > 0) this.#freeBulkAfter(restMs);
    else this.#freeBulk();
  }

  #freeBulkAfter(ms: number): void {
    // A timer may run a millisecond early.
    if (ms > 0) setTimeout(() => this.#freeBulk(), ms + 2).unref();
  }

  #freeBulk(): void {
    if (this.#held.size === 0 || this.#isBulkHeld) return;
    for (const lane of this.#held) {
      // The turn is over for the rest.
      if (this.#isBulkHeld) break;
      this.#held.delete(lane);
      lane.sender?.resume();
    }
    this.#dispatchSoon();
  }

  /** Many messages are recorded in one turn of the event loop. */
  #dispatchSoon(): void {
    if (this.#isDispatching || this.#waiting === 0) return;
    this.#isDispatching = true;
    setImmediate(() => {
      this.#isDispatching = false;
      this.#dispatch();
    });
  }

  #dispatch(): void {
    while (this.#claiming < this.#limits.claimingMax) {
      const next = this.#next();
      if (!next) return;
      this.#admit(next);
    }
  }

  /** Deficit round robin over the workspaces; one with nothing that may start is passed over. */
  #next(): Next | undefined {
    const nowMs = Date.now();
    for (const [workspaceId, tenant] of [...this.#tenants]) {
      const next = this.#firstWithRoom(tenant, nowMs);
      if (next && tenant.credit > 0) return next;
      tenant.credit = next ? tenant.credit + quantum : 0;
      this.#tenants.delete(workspaceId);
      this.#tenants.set(workspaceId, tenant);
      if (next && tenant.credit > 0) return next;
    }
    return undefined;
  }

  #firstWithRoom(tenant: Tenant, nowMs: number): Next | undefined {
    for (const waiting of [...tenant.urgent, ...tenant.bulk]) {
      const size = this.#roomFor(waiting, nowMs);
      if (size > 0) return { tenant, waiting, size };
    }
    return undefined;
  }

  /**
   * A lane may take as much as all leave free: one alone half of what the process may hold, a
   * hundred a hundredth each, and some is always free.
   */
  #roomFor({ lane, size, isUrgent }: Omit<Wish, 'signal'>, nowMs: number): number {
    if (lane.opensInMs(isUrgent, nowMs) > 0 || !lane.mayStart) return 0;
    if (!isUrgent && !this.#mayStartBulk(lane)) return 0;
    const { window } = lane;
    // Bulk mail that fills the window, or a larger one before it, keeps no urgent mail waiting.
    const taken = isUrgent && window > 1 ? lane.takenUrgent : lane.taken;
    const room = Math.min(window, this.#limits.heldMax - this.#taken) - taken;
    const least = Math.min(size, Math.ceil(window * leastShare));
    return room >= least ? Math.min(size, room) : 0;
  }

  #admit({ tenant, waiting, size }: Next): void {
    const { lane, isUrgent } = waiting;
    tenant.remove(waiting);
    tenant.credit -= size;
    this.#claiming += 1;
    lane.take(size, isUrgent);
    let isOver = false;
    const leave = () => {
      if (isOver) return;
      isOver = true;
      this.#claiming -= 1;
      lane.release(size, isUrgent);
      this.#dispatchSoon();
    };
    waiting.answer({ size, retryAfterMs: 0, leave });
  }

  #forgetIdle(): void {
    for (const [name, lane] of this.#lanes) {
      if (this.#lanes.size <= lanesMax) return;
      if (lane.isIdle) this.#lanes.delete(name);
    }
  }
}

function refused(retryAfterMs: number): AdmissionTurn {
  return { size: 0, retryAfterMs, leave: () => undefined };
}
