/** A queue in which tenants take turns: one of each, then the next of each. */
export class FairQueue<Item> {
  /** In the order of turns. */
  readonly #queues = new Map<string, Set<Item>>();

  sizeOf(tenant: string): number {
    return this.#queues.get(tenant)?.size ?? 0;
  }

  add(tenant: string, item: Item): void {
    const queue = this.#queues.get(tenant) ?? new Set();
    this.#queues.set(tenant, queue.add(item));
  }

  /** Whether the item was there. */
  remove(tenant: string, item: Item): boolean {
    const queue = this.#queues.get(tenant);
    if (!queue?.delete(item)) return false;
    if (queue.size === 0) this.#queues.delete(tenant);
    return true;
  }

  take(): Item | undefined {
    const [first] = this.#queues;
    if (!first) return undefined;
    const [tenant, queue] = first;
    const [item] = queue;
    // Behind all others that wait.
    this.#queues.delete(tenant);
    this.#queues.set(tenant, queue);
    if (item !== undefined) this.remove(tenant, item);
    return item;
  }
}
