import { LRUCache } from 'lru-cache';
import { LruMap } from './collections/lru-map.ts';

/**
 * Longer than any of our keys: users, sessions and workspaces have ids of at most 64 characters.
 */
const keyLengthMax = 1_024;

type CacheOptions<Value> = CacheBound<Value> & { keepMs?: number };

export type Cache<Value> = {
  (key: string, load: () => Promise<Value>): Promise<Value>;
  /** Drops values, and those that are being loaded, by their keys. */
  drop(isDropped: (key: string) => boolean): void;
};

type CacheBound<Value> =
  | { entriesMax: number }
  /** `sizeOf` gives about what a value holds in memory. */
  | { maxBytes: number; sizeOf: (value: Value) => number };

/**
 * Keeps loaded values, for ever if `keepMs` is absent; the least recently used one is dropped when
 * it is full. A failed load is not kept, nor is a value whose key is longer than 1,024 characters,
 * or that takes more than half of the bytes. Calls that ask for a value while it is loaded share
 * the load.
 */
export function createCache<Value>(options: CacheOptions<Value>): Cache<Value> {
  const { keepMs, ...bound } = options;
  const entries = new LRUCache<string, { value: Promise<Value> }>({
    // Not `max`, for which room is taken at once (collections/lru-map.ts).
    ...('entriesMax' in bound
      ? { maxSize: bound.entriesMax }
      : { maxSize: bound.maxBytes, maxEntrySize: bound.maxBytes / 2 }),
    ttl: keepMs ?? 0,
    // The library's own clock stops while a machine sleeps.
    perf: { now: () => Date.now() },
  });
  const isSized = 'sizeOf' in bound;
  const get = (key: string, load: () => Promise<Value>): Promise<Value> => {
    if (key.length > keyLengthMax) return load();
    const known = entries.get(key);
    if (known) return known.value;
    const start = Date.now();
    const entry = { value: load() };
    const isCurrent = () => entries.peek(key, { allowStale: true }) === entry;
    // Its size is known only when it is there.
    entries.set(key, entry, { size: 1 });
    entry.value.then(
      (value) => {
        if (!isSized || !isCurrent()) return;
        entries.set(
          key,
          { value: entry.value },
          { size: 1 + Math.ceil(bound.sizeOf(value)), start },
        );
      },
      () => {
        if (isCurrent()) entries.delete(key);
      },
    );
    return entry.value;
  };
  const drop = (isDropped: (key: string) => boolean): void => {
    for (const key of [...entries.keys()]) if (isDropped(key)) entries.delete(key);
  };
  return Object.assign(get, { drop });
}

const textLengthMax = 255;

/**
 * Keeps the results of a pure function for short texts; the least recently used one is dropped when
 * it is full.
 */
export function remember<Value>(
  entriesMax: number,
  compute: (text: string) => Value,
): (text: string) => Value {
  // In an object, since the cache itself cannot distinguish undefined from a missing key.
  const entries = new LruMap<{ value: Value }>({ max: entriesMax });
  return (text) => {
    const known = entries.get(text);
    if (known) return known.value;
    const value = compute(text);
    if (text.length <= textLengthMax) entries.set(text, { value });
    return value;
  };
}

/**
 * As `remember`, for texts of any length, bounded by entries and by bytes of text. The values kept
 * for them may be several times as large.
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
