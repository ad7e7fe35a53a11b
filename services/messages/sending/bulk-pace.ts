/** From a call to its commit. People and applications wait for it. */
const slowMs = 40;
/** After so long without urgent mail, bulk mail has the process to itself. */
const keptMs = 1_000;
/** At least one batch a second goes on. */
const delayMaxMs = 1_000;

/**
 * Holds bulk mail back while urgent mail takes long in this process: batches are admitted further and further apart
 * until it is quick again, and closer again afterwards.
 */
export class BulkPace {
  #delayMs = 0;
  #opensAtMs = 0;
  #urgentAtMs = Number.NEGATIVE_INFINITY;

  /** How long the next batch has to wait. */
  opensInMs(nowMs: number): number {
    if (nowMs - this.#urgentAtMs > keptMs) this.#delayMs = 0;
    return this.#delayMs === 0 ? 0 : Math.max(0, this.#opensAtMs - nowMs);
  }

  /** A batch was admitted; gives how long the next one has to wait. */
  admitted(nowMs: number): number {
    this.#opensAtMs = nowMs + this.#delayMs;
    return this.opensInMs(nowMs);
  }

  /** How long an urgent message took. */
  urgentTook(tookMs: number, nowMs: number): void {
    this.#urgentAtMs = nowMs;
    const delayMs = tookMs > slowMs ? this.#delayMs * 1.25 + 5 : this.#delayMs * 0.95 - 1;
    this.#delayMs = Math.min(delayMaxMs, Math.max(0, delayMs));
  }
}
