/** A tenant counts as active for this long after a call. */
const activeMs = 1_000;

/** Which tenants make calls: just enough to tell whether one is alone. */
export class Activity {
  /** The last call, and the last one of another tenant. */
  #latest = { tenant: '', atMs: Number.NEGATIVE_INFINITY };
  #other = this.#latest;

  note(tenant: string): void {
    if (tenant !== this.#latest.tenant) this.#other = this.#latest;
    this.#latest = { tenant, atMs: performance.now() };
  }

  isAlone(tenant: string): boolean {
    const { atMs } = tenant === this.#latest.tenant ? this.#other : this.#latest;
    return performance.now() - atMs > activeMs;
  }
}
