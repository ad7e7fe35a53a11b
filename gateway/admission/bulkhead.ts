/** Bounds what is in progress at one time, in all and of one caller. Nothing waits for room. */
export class Bulkhead {
  readonly #max: number;
  readonly #perCallerMax: number;
  readonly #byCaller = new Map<string, number>();
  #total = 0;

  constructor({ max, perCallerMax = max }: { max: number; perCallerMax?: number }) {
    this.#max = max;
    this.#perCallerMax = perCallerMax;
  }

  get isFull(): boolean {
    return this.#total >= this.#max;
  }

  /** Whether the caller is in now. One that stands for many has no share of its own. */
  enter(caller: string, standsForMany = false): boolean {
    const own = this.#byCaller.get(caller) ?? 0;
    if (this.isFull || (own >= this.#perCallerMax && !standsForMany)) return false;
    this.#total += 1;
    this.#byCaller.set(caller, own + 1);
    return true;
  }

  leave(caller: string): void {
    this.#total -= 1;
    const own = (this.#byCaller.get(caller) ?? 1) - 1;
    if (own > 0) this.#byCaller.set(caller, own);
    else this.#byCaller.delete(caller);
  }
}
