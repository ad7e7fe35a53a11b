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

/**
 * As `remember`, for texts of any length: at most so many, and at most so many bytes of text. What is kept for a text may
 * be several times as large.
 */
export function rememberLong<Value extends object>(
  { entriesMax, textMaxBytes }: { entriesMax: number; textMaxBytes: number },
  compute: (text: string) => Value,
): (text: string) => Value {
  const entries = new LRUCache<string, Value>({
    max: entriesMax,
    maxSize: textMaxBytes,
    // Two bytes a character, and an empty text is of some size as well: the library takes no zero.
    sizeCalculation: (_, text) => 2 * text.length + 1,
  });
  return (text) => {
    const known = entries.get(text);
    if (known) return known;
    const value = compute(text);
    entries.set(text, value);
    return value;
  };
}
