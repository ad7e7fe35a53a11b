/** Where an attribute's value stands in the source. */
export interface Attribute {
  tag: string;
  name: string;
  start: number;
  end: number;
  value: string;
  quote: '"' | "'" | '';
}

const space = /[\s/]/;

/**
 * Finds the attributes of all tags, also those in Outlook's conditional comments. Liquid is opaque: a `>` or a
 * quote within it ends nothing.
 */
export function scanAttributes(source: string): Attribute[] {
  const attributes: Attribute[] = [];
  let at = 0;
  while (at < source.length) {
    const liquid = liquidEnd(source, at);
    if (liquid > at) at = liquid;
    else if (source[at] === '<' && /[a-zA-Z]/.test(source[at + 1] ?? ''))
      at = scanTag(source, at, attributes);
    else at += 1;
  }
  return attributes;
}

/** The position behind the Liquid that starts at `at`, or `at` if none does. */
export function liquidEnd(source: string, at: number): number {
  if (source[at] !== '{') return at;
  const closing = source[at + 1] === '{' ? '}}' : source[at + 1] === '%' ? '%}' : undefined;
  if (closing === undefined) return at;
  const end = source.indexOf(closing, at + 2);
  return end < 0 ? at : end + 2;
}

function scanTag(source: string, start: number, attributes: Attribute[]): number {
  let at = start + 1;
  while (at < source.length && /[a-zA-Z0-9:-]/.test(source[at] ?? '')) at += 1;
  const tag = source.slice(start + 1, at).toLowerCase();
  while (at < source.length && source[at] !== '>') {
    const liquid = liquidEnd(source, at);
    if (liquid > at) at = liquid;
    else if (space.test(source[at] ?? '')) at += 1;
    else at = scanAttribute(source, at, tag, attributes);
  }
  return at + 1;
}

function scanAttribute(source: string, from: number, tag: string, attributes: Attribute[]): number {
  const nameEnd = skip(source, from + 1, /[^\s=>/]/);
  const name = source.slice(from, nameEnd).toLowerCase();
  const equals = skip(source, nameEnd, /\s/);
  if (source[equals] !== '=') return nameEnd;
  const open = skip(source, equals + 1, /\s/);
  const character = source[open];
  const quote = character === '"' || character === "'" ? character : '';
  const start = open + quote.length;
  let end = start;
  while (end < source.length && !ends(source[end] ?? '', quote)) {
    end = Math.max(end + 1, liquidEnd(source, end));
  }
  attributes.push({ tag, name, start, end, value: source.slice(start, end), quote });
  return end + quote.length;
}

function ends(character: string, quote: string): boolean {
  return quote === '' ? /[\s>]/.test(character) : character === quote;
}

function skip(source: string, from: number, pattern: RegExp): number {
  let at = from;
  while (at < source.length && pattern.test(source[at] ?? '') && liquidEnd(source, at) === at)
    at += 1;
  return at;
}
