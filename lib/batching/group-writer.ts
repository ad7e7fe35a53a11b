import { AsyncLocalStorage } from 'node:async_hooks';

export type GroupWriterOptions<Item> = {
  /** Items of a group at most. */
  groupMax: number;
  /** Bytes of a group at most, where `sizeOf` says what an item has; a larger item goes alone. */
  groupMaxBytes?: number;
  sizeOf?: (item: Item) => number;
  /** An item waits no longer than this for others to join its group. */
  waitMaxMs: number;
  /** Writes a group. Rejects where it can never be written as it is. */
  write(group: readonly Item[]): Promise<void>;
  /**
   * Does with a single item what is left to do when `write` has rejected it. Beside the others,
   * which do not wait for it. Must not reject.
   */
  refused(item: Item): Promise<void>;
  /** Called when all that was added is written. */
  emptied?(): void;
};

/**
 * Writes items in groups: one group at a time, while the next gathers; at once when a group is
 * full. A group that is refused is halved until the items that are refused stand alone. Items
 * belong to the process: none is dropped, and nothing here bounds how many wait. A group is written
 * in the asynchronous context of its first item, such as its trace.
 */
export class GroupWriter<Item> {
  readonly #options: GroupWriterOptions<Item>;
  #waiting: Item[] = [];
  #unwritten = 0;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  /** The context of the item that waits first. */
  #within = AsyncLocalStorage.snapshot();
  #written = Promise.withResolvers<void>();

  constructor(options: GroupWriterOptions<Item>) {
    this.#options = options;
  }

  /** Items that are added and not written, and not given up by `refused`. */
  get unwritten(): number {
    return this.#unwritten;
  }

  add(item: Item): void {
    if (this.#waiting.length === 0) this.#within = AsyncLocalStorage.snapshot();
    this.#unwritten += 1;
    this.#waiting.push(item);
    if (this.#waiting.length >= this.#options.groupMax) this.#next();
    else this.#waitForMore();
  }

  /** Resolves when all that was added is written. */
  async flush(): Promise<void> {
    while (this.#unwritten > 0) {
      this.#next();
      await this.#written.promise;
    }
  }

  #waitForMore(): void {
    this.#timer ??= setTimeout(() => this.#next(), this.#options.waitMaxMs);
  }

  /** Begins with the next group, unless one is being written. */
  #next(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#writing || this.#waiting.length === 0) return;
    const group = this.#waiting.splice(0, this.#fitting());
    this.#writing = this.#within(() => this.#write(group)).finally(() => {
      this.#writing = undefined;
      if (this.#waiting.length >= this.#options.groupMax) this.#next();
      else if (this.#waiting.length > 0) this.#waitForMore();
    });
  }

  #fitting(): number {
    const { groupMax, groupMaxBytes = Number.POSITIVE_INFINITY, sizeOf } = this.#options;
    if (!sizeOf) return groupMax;
    let bytes = 0;
    const end = this.#waiting.findIndex((item, index) => {
      bytes += sizeOf(item);
      return index === groupMax || (index > 0 && bytes > groupMaxBytes);
    });
    return end < 0 ? groupMax : end;
  }

  async #write(group: readonly Item[]): Promise<void> {
    try {
      await this.#options.write(group);
    } catch {
      const [item] = group;
      if (group.length === 1 && item !== undefined) {
        void this.#options.refused(item).finally(() => this.#settled(1));
        return;
      }
      const half = Math.ceil(group.length / 2);
      await this.#write(group.slice(0, half));
      await this.#write(group.slice(half));
      return;
    }
    this.#settled(group.length);
  }

  #settled(count: number): void {
    this.#unwritten -= count;
    if (this.#unwritten === 0) this.#options.emptied?.();
    const { resolve } = this.#written;
    this.#written = Promise.withResolvers();
    resolve();
  }
}
