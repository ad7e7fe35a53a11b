type QueuedItem<Item> = { tenant: string; item: Item };

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

  /** The next item of a tenant that is wanted, whose turn it then was. */
  takeOf(tenant: string, isWanted: (item: Item) => boolean = () => true): Item | undefined {
    for (const item of this.#queues.get(tenant) ?? []) {
      if (isWanted(item) && this.remove(tenant, item)) return item;
    }
    return undefined;
  }

  /** The next item of the first tenant that may have a turn. */
  take(mayHaveTurn: (tenant: string) => boolean = () => true): QueuedItem<Item> | undefined {
    for (const [tenant, queue] of this.#queues) {
      if (!mayHaveTurn(tenant)) continue;
      const [item] = queue;
      // Behind all others that wait.
      this.#queues.delete(tenant);
      this.#queues.set(tenant, queue);
      if (item === undefined) return undefined;
      this.remove(tenant, item);
      return { tenant, item };
    }
    return undefined;
  }
}
