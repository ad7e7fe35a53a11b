/** Longer than any key of ours: users, sessions and workspaces have ids of at most 64 characters. */
const keyLengthMax = 1_024;

/**
 * Keeps answers of other services for a while; the oldest goes when it is full. A failed load is not kept, nor is
 * one whose key is longer than 1,024 characters.
 */
export function createCache<Value>({ entriesMax, keepMs }: { entriesMax: number; keepMs: number }) {
  const entries = new Map<string, { value: Promise<Value>; untilMs: number }>();
  return (key: string, load: () => Promise<Value>): Promise<Value> => {
    if (key.length > keyLengthMax) return load();
    const known = entries.get(key);
    if (known && known.untilMs > Date.now()) return known.value;
    entries.delete(key);
    const [oldest] = entries.keys();
    if (entries.size >= entriesMax && oldest !== undefined) entries.delete(oldest);
    const value = load();
    const entry = { value, untilMs: Date.now() + keepMs };
    entries.set(key, entry);
    value.catch(() => {
      if (entries.get(key) === entry) entries.delete(key);
    });
    return value;
  };
}

const keptLengthMax = 255;

/** Keeps what a pure function says of short texts, for those that come again and again; when full, it begins anew. */
export function remember<Value>(
  entriesMax: number,
  say: (text: string) => Value,
): (text: string) => Value {
  const entries = new Map<string, { value: Value }>();
  return (text) => {
    const known = entries.get(text);
    if (known) return known.value;
    const value = say(text);
    if (text.length > keptLengthMax) return value;
    if (entries.size >= entriesMax) entries.clear();
    entries.set(text, { value });
    return value;
  };
}
