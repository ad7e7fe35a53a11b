/**
 * Shares something bounded among callers. Up to half of it anyone may have; beyond that each caller
 * may have an eighth, so that one of them leaves the rest to others.
 */
export class FairShares {
  readonly #max: number;
  readonly #byCaller = new Map<string, number>();
  #total = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Whether a caller may have `more`; otherwise whose share is exhausted. */
  verdict(caller: string, more: number): 'granted' | 'caller' | 'all' {
    if (this.#total + more > this.#max) return this.#isLarge(caller, more) ? 'caller' : 'all';
    if (this.#total + more <= this.#max / 2) return 'granted';
    return this.#isLarge(caller, more) ? 'caller' : 'granted';
  }

  change(caller: string, by: number): void {
    const held = (this.#byCaller.get(caller) ?? 0) + by;
    this.#total += by;
    if (held === 0) this.#byCaller.delete(caller);
    else this.#byCaller.set(caller, held);
  }

  #isLarge(caller: string, more: number): boolean {
    return (this.#byCaller.get(caller) ?? 0) + more > Math.max(1, this.#max / 8);
  }
}
