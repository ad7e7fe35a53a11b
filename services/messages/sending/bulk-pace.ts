/** From a call to its commit. People and applications wait for it. */
const slowMs = 40;
/** Bulk mail waits for so long at a time. */
const heldMaxMs = 400;
/** In between it goes on for so long, however slow urgent mail is. */
const freeMinMs = 30;

/** Holds the bulk mail of a process while urgent mail takes long in it, and lets it go on for a fifteenth of the time at least. */
export class BulkPace {
  #heldUntilMs = Number.NEGATIVE_INFINITY;

  isHeld(nowMs: number): boolean {
    return nowMs < this.#heldUntilMs;
  }

  /** How long an urgent message took; gives how long bulk mail is held from now on, if that has just begun. */
  urgentTook(tookMs: number, nowMs: number): number {
    if (tookMs <= slowMs) {
      this.#heldUntilMs = Math.min(this.#heldUntilMs, nowMs);
      return 0;
    }
    if (nowMs < this.#heldUntilMs + freeMinMs) return 0;
    this.#heldUntilMs = nowMs + heldMaxMs;
    return heldMaxMs;
  }
}
