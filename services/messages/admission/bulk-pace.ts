/** From a call to its commit. People and applications wait for it. */
const slowMs = 40;
/** A process that has little to do is quicker than this. */
const easyMs = 20;
/** Bulk mail waits for so long at a time. */
const heldMaxMs = 400;
/**
 * It goes on when urgent mail has been quick for so long: a quick group of calls may have slow ones
 * before and behind it.
 */
const calmMs = 200;
/** In between it goes on for so long, however slow urgent mail is. */
const freeMinMs = 30;

type Easy = { workspaceId: string; atMs: number };

/**
 * Holds the bulk mail of a process while urgent mail takes long in it, and lets it go on for a
 * fifteenth of the time at least.
 */
export class BulkPace {
  #heldUntilMs = Number.NEGATIVE_INFINITY;
  /** Infinite while urgent mail takes long. */
  #quickSinceMs = Number.POSITIVE_INFINITY;
  /** The last easy ones of two workspaces, the latest first. */
  #easy: readonly Easy[] = [];

  isHeld(nowMs: number): boolean {
    return nowMs < this.#heldUntilMs;
  }

  /**
   * How long an urgent message took; gives how long bulk mail is held from now on, if that has just
   * begun.
   */
  urgentTook(workspaceId: string, tookMs: number, nowMs: number): number {
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
