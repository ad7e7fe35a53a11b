/** Stands for an integer that a double can't hold exactly, so that a decoder can refuse it by name. */
export const inexactInteger: unique symbol = Symbol('an integer beyond 2^53 - 1');

const longInteger = /[[:,\s]-?\d{16}/;
const integerText = /^-?\d+$/;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads a JSON text in UTF-8, a byte order mark allowed. Throws for anything that is not one. */
export function parseJson(bytes: Uint8Array): unknown {
  const text = utf8.decode(bytes);
  // A reviver makes parsing several times slower, so only texts with long runs of digits pay for it.
  return longInteger.test(text) ? JSON.parse(text, markInexactInteger) : JSON.parse(text);
}

function markInexactInteger(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  return integerText.test(context?.source ?? '') ? inexactInteger : value;
}

/** An object as JSON knows it: neither null nor an array. */
export function isObject(json: unknown): json is Record<string, unknown> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}
