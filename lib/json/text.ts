/**
 * Replaces an integer that a double cannot represent exactly, so that a decoder can refuse it and
 * name the field.
 */
export const inexactInteger: unique symbol = Symbol('an integer beyond 2^53 - 1');

const longInteger = /[[:,\s]-?\d{16}/;
const integerText = /^-?\d+$/;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Parses a JSON text in UTF-8, with or without a byte order mark. Throws for anything else. */
export function parseJson(bytes: Uint8Array): unknown {
  return parseText(textOf(bytes));
}

/** Throws where the bytes are not UTF-8. */
export function textOf(bytes: Uint8Array): string {
  return utf8.decode(bytes);
}

/** Parses a text, or an element of a list in it. */
export function parseText(text: string, from = 0, to = text.length): unknown {
  const json = from === 0 && to === text.length ? text : text.slice(from, to);
  // A reviver makes parsing several times slower, so it is used only for texts with many digits in
  // a row. A number is recognised by the character before it, so the text includes the one before
  // an element.
  const around = from === 0 ? json : text.slice(from - 1, to);
  return longInteger.test(around) ? JSON.parse(json, markInexactInteger) : JSON.parse(json);
}

function markInexactInteger(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  return integerText.test(context?.source ?? '') ? inexactInteger : value;
}

/**
 * A string, or an integer of 16 digits and more. Of valid JSON only: in any other text, a quote may
 * begin no string.
 */
const stringOrLongInteger = /"[^"\\]*(?:\\.[^"\\]*)*"|(?<=[[:,\s])-?[1-9]\d{15,}(?![\d.eE])/g;

/**
 * Parses a JSON text. An integer that a double cannot represent exactly becomes a text of its
 * digits.
 */
export function parseExactly(bytes: Uint8Array): unknown {
  const json = textOf(bytes);
  const parsed: unknown = JSON.parse(json);
  // A reviver takes half a second for a megabyte of small values; this takes a tenth of that.
  return longInteger.test(json)
    ? JSON.parse(json.replace(stringOrLongInteger, quoteInexact))
    : parsed;
}

function quoteInexact(token: string): string {
  const isExact = token.startsWith('"') || Number.isSafeInteger(Number(token));
  return isExact ? token : `"${token}"`;
}

/** A JSON object: neither null nor an array. */
export function isObject(json: unknown): json is Record<string, unknown> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}
