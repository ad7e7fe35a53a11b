/** After this many changes a copy costs little in comparison. */
const changesMax = 200;

/**
 * A map for entries that soon go again, such as calls in progress. V8's `Map` moves to another
 * table while entries come and go. A table that it has left refers to the next one, so that once a
 * table is in the old generation, all that was ever in a later one stays until a full collection: a
 * quarter of what a busy process allocates was kept so, copied twice. Here the map is replaced by a
 * copy before long, and nothing refers to the copy.
 */
export class PassingMap<Key, Value> implements Map<Key, Value> {
  readonly [Symbol.toStringTag] = 'PassingMap';
  #entries = new Map<Key, Value>();
  #changes = 0;

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  set(key: Key, value: Value): this {
    this.#changes += 1;
    if (this.#changes > Math.max(changesMax, this.#entries.size)) {
      this.#entries = new Map(this.#entries);
      this.#changes = 0;
    }
    this.#entries.set(key, value);
    return this;
  }

  delete(key: Key): boolean {
    return this.#entries.delete(key);
  }

  clear(): void {
    this.#entries = new Map();
  }

  forEach(visit: (value: Value, key: Key, map: Map<Key, Value>) => void): void {
    for (const [key, value] of this.#entries) visit(value, key, this);
  }

  keys(): MapIterator<Key> {
    return this.#entries.keys();
  }

  values(): MapIterator<Value> {
    return this.#entries.values();
  }

  entries(): MapIterator<[Key, Value]> {
    return this.#entries.entries();
  }

  [Symbol.iterator](): MapIterator<[Key, Value]> {
    return this.#entries.entries();
  }
}
