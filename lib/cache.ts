import { AsyncLocalStorage } from 'node:async_hooks';
import { LRUCache } from 'lru-cache';
import { LruMap } from './collections/lru-map.ts';

/**
 * Longer than any of our keys: users, sessions and workspaces have ids of at most 64 characters.
 */
const keyLengthMax = 1_024;
/** The part of its time in which a busy value is renewed. */
const soonShare = 0.1;

type CacheOptions<Value> = CacheBound<Value> & {
  keepMs?: number;
  /**
   * Loads a value anew, beside the call that uses it, where the next use might find it too old: who
   * comes again and again never waits. Only with `keepMs`.
   */
  isRenewed?: boolean;
};

type Entry<Value> = { value: Promise<Value>; loadedAtMs: number; usedAtMs: number };

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
  const { keepMs, isRenewed = false, ...bound } = options;
  const entries = new LRUCache<string, Entry<Value>>({
    // Not `max`, for which room is taken at once (collections/lru-map.ts).
    ...('entriesMax' in bound
      ? { maxSize: bound.entriesMax }
      : { maxSize: bound.maxBytes, maxEntrySize: bound.maxBytes / 2 }),
    ttl: keepMs ?? 0,
    // The library's own clock stops while a machine sleeps.
    perf: { now: () => Date.now() },
  });
  const isSized = 'sizeOf' in bound;
  const keep = (key: string, load: () => Promise<Value>, start = Date.now()): Entry<Value> => {
    const entry = { value: load(), loadedAtMs: start, usedAtMs: start };
    const isCurrent = () => entries.peek(key, { allowStale: true }) === entry;
    // Its size is known only when it is there.
    entries.set(key, entry, { size: 1, start });
    entry.value.then(
      (value) => {
        if (!isSized || !isCurrent()) return;
        entries.set(key, { ...entry }, { size: 1 + Math.ceil(bound.sizeOf(value)), start });
      },
      () => {
        if (isCurrent()) entries.delete(key);
      },
    );
    return entry;
  };
  // A renewal must not end with the call that it is beside.
  const outside = AsyncLocalStorage.snapshot();
  const renewing = new Set<string>();
  const renew = (key: string, entry: Entry<Value>, load: () => Promise<Value>): void => {
    renewing.add(key);
    const start = Date.now();
    const value = outside(load);
    value
      .then(
        () => {
          const isCurrent = entries.peek(key, { allowStale: true }) === entry;
          if (isCurrent) keep(key, () => value, start);
        },
        // The value that is there stays for its time.
        () => undefined,
      )
      .finally(() => renewing.delete(key));
  };
  const get = (key: string, load: () => Promise<Value>): Promise<Value> => {
    if (key.length > keyLengthMax) return load();
    const known = entries.get(key);
    if (!known) return keep(key, load).value;
    if (isRenewed && keepMs !== undefined && !renewing.has(key)) {
      const now = Date.now();
      const untilNextMs = Math.max(now - known.usedAtMs, keepMs * soonShare);
      if (now - known.loadedAtMs + untilNextMs >= keepMs) renew(key, known, load);
      known.usedAtMs = now;
    }
    return known.value;
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
