/** From a call to its commit. People and applications wait for it. */
const slowMs = 40;
/** A process that has little to do is quicker than this. */
const easyMs = 20;
/** Longest wait of bulk mail at a time. */
const heldMaxMs = 400;
/**
 * Bulk mail goes on once urgent mail has been quick for this long: a quick group of calls may stand
 * between slow ones.
 */
const calmMs = 200;
/** Between two waits it goes on for this long, however slow urgent mail is. */
const freeMinMs = 30;
/** The share of the time that bulk mail gives way to urgent calls in progress, slow or not. */
const yieldedShare = 0.2;
/** To a call that comes after a while without any. */
const yieldedMaxMs = 100;
/** After an urgent call another is expected within this time. */
const expectedMs = 1_000;
/** While one is expected, bulk mail begins for this long in one turn of the event loop. */
const turnMs = 2;
/** Urgent mail takes longer where the process has something else to do, or its machine. */
const unhinderedMs = 10;
/** Longest rest after a turn. */
const restMaxMs = 20;

type Easy = { workspaceId: string; atMs: number };

/**
 * Holds the bulk mail of a process while urgent mail takes long in it, and lets it go on for a
 * fifteenth of the time at least. Single calls that come now and then find it at rest: it gives way
 * to each from its beginning, for a fifth of the time at most. As long as others are expected, it
 * has short turns of the event loop, each with a rest as long where urgent mail is hindered.
 */
export class BulkPace {
  #heldUntilMs = Number.NEGATIVE_INFINITY;
  /** Urgent calls that are not answered yet. */
  #calls = 0;
  #yieldsUntilMs = Number.NEGATIVE_INFINITY;
  /** Time that is left to give, but for the share since the last call began. */
  #yieldMs = yieldedMaxMs;
  #beganAtMs = Number.NEGATIVE_INFINITY;
  /** Infinite while urgent mail takes long. */
  #quickSinceMs = Number.POSITIVE_INFINITY;
  /** The last easy ones of two workspaces, the latest first. */
  #easy: readonly Easy[] = [];
  /** When the turn of the event loop began in which bulk mail begins; undefined between turns. */
  #turnBeganMs: number | undefined;
  #restsUntilMs = Number.NEGATIVE_INFINITY;
  /** Whether the last urgent message was, by others than its own workspace. */
  #isHindered = false;

  isHeld(nowMs: number): boolean {
    const isYielding = this.#calls > 0 && nowMs < this.#yieldsUntilMs;
    const isResting = nowMs < this.#restsUntilMs;
    return nowMs < this.#heldUntilMs || isYielding || isResting || this.#isTurnOver(nowMs);
  }

  /** Bulk mail begins; gives whether it is the first in this turn of the event loop. */
  beginTurn(nowMs: number): boolean {
    if (this.#turnBeganMs !== undefined) return false;
    this.#turnBeganMs = nowMs;
    return true;
  }

  /** The turn of the event loop is over; gives how long bulk mail rests from now on. */
  endTurn(nowMs: number): number {
    const tookMs = nowMs - (this.#turnBeganMs ?? nowMs);
    this.#turnBeganMs = undefined;
    // After a hold it has little time as it is.
    const isShort = nowMs < this.#heldUntilMs + freeMinMs;
    if (!this.#isHindered || isShort || !this.#isExpecting(nowMs)) return 0;
    const restMs = Math.min(tookMs, restMaxMs);
    this.#restsUntilMs = nowMs + restMs;
    return restMs;
  }

  /** Gives how long bulk mail gives way from now on, unless all calls end before. */
  urgentBegan(nowMs: number): number {
    const leftMs = this.#calls > 0 ? this.#yieldsUntilMs - nowMs : this.#yieldMs;
    const earnedMs = (nowMs - this.#beganAtMs) * yieldedShare;
    this.#calls += 1;
    this.#yieldMs = Math.min(yieldedMaxMs, Math.max(0, leftMs) + earnedMs);
    this.#beganAtMs = nowMs;
    this.#yieldsUntilMs = nowMs + this.#yieldMs;
    return this.#yieldMs;
  }

  urgentEnded(nowMs: number): void {
    this.#calls -= 1;
    if (this.#calls === 0) this.#yieldMs = Math.max(0, this.#yieldsUntilMs - nowMs);
  }

  /**
   * How long an urgent message took; gives how long bulk mail is held from now on, if that has just
   * begun.
   */
  urgentTook(workspaceId: string, tookMs: number, nowMs: number): number {
    this.#isHindered = tookMs > unhinderedMs && !this.#isItsOwn(workspaceId, nowMs);
    if (tookMs <= easyMs) this.#wasEasy(workspaceId, nowMs);
    if (tookMs <= slowMs) {
      this.#wasQuick(nowMs);
      return 0;
    }
    if (this.#isItsOwn(workspaceId, nowMs)) return 0;
    this.#quickSinceMs = Number.POSITIVE_INFINITY;
    if (nowMs < this.#heldUntilMs + freeMinMs) return 0;
    this.#heldUntilMs = nowMs + heldMaxMs;
    return heldMaxMs;
  }

  #isExpecting(nowMs: number): boolean {
    return this.#calls > 0 || nowMs - this.#beganAtMs < expectedMs;
  }

  #isTurnOver(nowMs: number): boolean {
    const beganMs = this.#turnBeganMs ?? nowMs;
    return nowMs - beganMs > turnMs && this.#isExpecting(nowMs);
  }

  #wasEasy(workspaceId: string, nowMs: number): void {
    const others = this.#easy.filter((easy) => easy.workspaceId !== workspaceId);
    this.#easy = [{ workspaceId, atMs: nowMs }, ...others.slice(0, 1)];
  }

  #wasQuick(nowMs: number): void {
    this.#quickSinceMs = Math.min(this.#quickSinceMs, nowMs);
    if (nowMs - this.#quickSinceMs < calmMs) return;
    this.#heldUntilMs = Math.min(this.#heldUntilMs, nowMs);
  }

  /**
   * Another workspace's mail was quick a moment ago, so this workspace is slow for a reason of its
   * own, and not because the process is busy.
   */
  #isItsOwn(workspaceId: string, nowMs: number): boolean {
    return this.#easy.some(
      (easy) => easy.workspaceId !== workspaceId && nowMs - easy.atMs < calmMs,
    );
  }
}
