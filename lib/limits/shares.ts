/**
 * Places of which a tenant takes at most its own maximum, and never more than all leave free: the
 * more are taken, the smaller is the share of each, so that no few tenants take all.
 */
export class Shares {
  readonly #placesMax: number;
  readonly #tenantMax: number;
  readonly #taken = new Map<string, number>();
  #total = 0;

  constructor({ placesMax, tenantMax }: { placesMax: number; tenantMax: number }) {
    this.#placesMax = placesMax;
    this.#tenantMax = tenantMax;
  }

  mayTake(tenant: string): boolean {
    const taken = this.#taken.get(tenant) ?? 0;
    return taken < Math.min(this.#tenantMax, this.#placesMax - this.#total);
  }

  /** Whether the tenant has one place more now. */
  take(tenant: string): boolean {
    if (!this.mayTake(tenant)) return false;
    this.#taken.set(tenant, (this.#taken.get(tenant) ?? 0) + 1);
    this.#total += 1;
    return true;
  }

  release(tenant: string): void {
    const left = (this.#taken.get(tenant) ?? 1) - 1;
    if (left > 0) this.#taken.set(tenant, left);
    else this.#taken.delete(tenant);
    this.#total -= 1;
  }
}
