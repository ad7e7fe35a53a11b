import { LRUCache } from 'lru-cache';

/** Longer than any of our keys: users, sessions and workspaces have ids of at most 64 characters. */
const keyLengthMax = 1_024;

/**
 * Keeps loaded values, for ever if `keepMs` is absent; the least recently used one is dropped when it is full. A
 * failed load is not kept, nor is a value whose key is longer than 1,024 characters.
 */
export function createCache<Value>({
  entriesMax,
  keepMs,
}: {
  entriesMax: number;
  keepMs?: number;
}) {
  const entries = new LRUCache<string, Promise<Value>>({
    max: entriesMax,
    ttl: keepMs ?? 0,
    // The library's own clock stops while a machine sleeps.
    perf: { now: () => Date.now() },
  });
  return (key: string, load: () => Promise<Value>): Promise<Value> => {
    if (key.length > keyLengthMax) return load();
    const known = entries.get(key);
    if (known) return known;
    const value = load();
    entries.set(key, value);
    value.catch(() => {
      if (entries.peek(key) === value) entries.delete(key);
    });
    return value;
  };
}

const textLengthMax = 255;

/** Keeps the results of a pure function for short texts; the least recently used one is dropped when it is full. */
export function remember<Value>(
  entriesMax: number,
  compute: (text: string) => Value,
): (text: string) => Value {
  // In an object, since the cache itself cannot distinguish undefined from a missing key.
  const entries = new LRUCache<string, { value: Value }>({ max: entriesMax });
  return (text) => {
    const known = entries.get(text);
    if (known) return known.value;
    const value = compute(text);
    if (text.length <= textLengthMax) entries.set(text, { value });
    return value;
  };
}
