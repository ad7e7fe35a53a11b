const startSize = 2;
export const maxSize = 20;

/** How many callbacks an endpoint may have open: more while it succeeds, one after a failure. */
export class Window {
  size = startSize;
  /** Whether its last answer was a success. */
  isGood = false;
  #successes = 0;

  succeeded(): void {
    this.isGood = true;
    this.#successes += 1;
    if (this.#successes < this.size) return;
    this.size = Math.min(2 * this.size, maxSize);
    this.#successes = 0;
  }

  failed(): void {
    this.isGood = false;
    this.size = 1;
    this.#successes = 0;
  }
}
