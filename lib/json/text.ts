/**
 * Stands for an integer that a double cannot represent exactly, so that a decoder can refuse it and
 * name the field. No text that may be stored has a NUL, so it is no value of its own.
 */
export const inexactInteger = '\0an integer beyond 2^53 - 1';

/** The start of a number of sixteen digits or more, also within a string. */
const longNumber = /(?<=^|[[:,\s])-?[1-9]\d{15}/g;
const digit = /\d/;
const fraction = /[.eE]/;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a JSON text in UTF-8, with or without a byte order mark. Throws for anything else.
 * Integers that a double would round are `inexactInteger`.
 */
export function parseJson(bytes: Uint8Array): unknown {
  return parseText(textOf(bytes));
}

/** Throws where the bytes are not UTF-8. */
export function textOf(bytes: Uint8Array): string {
  return utf8.decode(bytes);
}

/** Parses a text, or an element of a list in it, as `parseJson` does. */
export function parseText(text: string, from = 0, to = text.length): unknown {
  return parseWith(text.slice(from, to), () => inexactInteger);
}

/** The same, but an integer that a double would round is a text of its digits. */
export function parseExactly(bytes: Uint8Array): unknown {
  return parseWith(textOf(bytes), (digits) => digits);
}

/** `instead` gives the text in place of an integer that a double would round. */
function parseWith(json: string, instead: (digits: string) => string): unknown {
  const parsed: unknown = JSON.parse(json);
  let replaced = '';
  let from = 0;
  let string = stringBehind(json, 0);
  // A reviver makes parsing many times slower: half a second for a megabyte of small values.
  for (const { 0: begun, index } of json.matchAll(longNumber)) {
    let to = index + begun.length;
    // A pattern for all digits of a number would overflow its stack.
    while (digit.test(json.charAt(to))) to += 1;
    const digits = json.slice(index, to);
    if (fraction.test(json.charAt(to)) || Number.isSafeInteger(Number(digits))) continue;
    while (string.to < index) string = stringBehind(json, string.to + 1);
    if (string.from < index) continue;
    replaced += json.slice(from, index) + JSON.stringify(instead(digits));
    from = to;
  }
  return from === 0 ? parsed : JSON.parse(replaced + json.slice(from));
}

/** The first string at or behind a place that is in none; of valid JSON. */
function stringBehind(json: string, place: number): { from: number; to: number } {
  const from = json.indexOf('"', place);
  if (from === -1) return { from: json.length, to: json.length };
  return { from, to: endOfString(json, from) };
}

const backslash = 0x5c;

/** The end of the string that begins at `from`; -1 if it has none. */
export function endOfString(json: string, from: number): number {
  for (let end = json.indexOf('"', from + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (json.charCodeAt(end - 1 - backslashes) === backslash) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return -1;
}

/** A JSON object: neither null nor an array. */
export function isObject(json: unknown): json is Record<string, unknown> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}
