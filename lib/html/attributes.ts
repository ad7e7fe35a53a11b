import { liquidSpans } from '#lib/liquid/spans.ts';

/** Where an attribute's value stands in the source. */
export interface Attribute {
  tag: string;
  name: string;
  /** The start of its name; `start` and `end` are those of its value, within any quotes. */
  nameStart: number;
  start: number;
  end: number;
  value: string;
  quote: '"' | "'" | '';
}

const space = /[\s/]/;

/** An opening tag, from its `<` to behind its `>`. */
export interface OpeningTag {
  name: string;
  start: number;
  end: number;
  attributes: Attribute[];
}

/** A source with its Liquid found once, so that nothing searches for its end again. */
type Scan = { source: string; ends: ReadonlyMap<number, number>; attributes: Attribute[] };

/** Whether a source may hold Liquid, which is opaque: a `>` or a quote within it ends nothing. */
type ScanOptions = { hasLiquid: boolean };
const withLiquid: ScanOptions = { hasLiquid: true };

/** Finds all opening tags, also those in Outlook's conditional comments. */
export function scanTags(source: string, { hasLiquid }: ScanOptions = withLiquid): OpeningTag[] {
  const spans = hasLiquid ? liquidSpans(source) : [];
  const ends = new Map(spans.map(({ start, end }) => [start, end]));
  const scan: Scan = { source, ends, attributes: [] };
  const tags: OpeningTag[] = [];
  let at = 0;
  while (at < source.length) {
    const liquid = liquidEnd(scan, at);
    if (liquid > at) at = liquid;
    else if (source[at] === '<' && /[a-zA-Z]/.test(source[at + 1] ?? '')) {
      const tag = scanTag(scan, at);
      tags.push(tag);
      at = tag.end;
    } else at = nextPlace(scan, at + 1);
  }
  return tags;
}

/** The next place where a tag or Liquid may begin. */
function nextPlace({ source, ends }: Scan, from: number): number {
  const opening = ends.size > 0 ? /[<{]/g : /</g;
  opening.lastIndex = from;
  return opening.exec(source)?.index ?? source.length;
}

/** The attributes of all tags that `scanTags` finds. */
export function scanAttributes(source: string, options?: ScanOptions): Attribute[] {
  return scanTags(source, options).flatMap(({ attributes }) => attributes);
}

/** The position behind the Liquid that starts at `at`, or `at` if none does. */
function liquidEnd({ source, ends }: Scan, at: number): number {
  return source[at] === '{' ? (ends.get(at) ?? at) : at;
}

function scanTag(given: Scan, start: number): OpeningTag {
  const { source } = given;
  const scan = { ...given, attributes: [] };
  let at = start + 1;
  while (at < source.length && /[a-zA-Z0-9:-]/.test(source[at] ?? '')) at += 1;
  const tag = source.slice(start + 1, at).toLowerCase();
  while (at < source.length && source[at] !== '>') {
    const liquid = liquidEnd(scan, at);
    if (liquid > at) at = liquid;
    else if (space.test(source[at] ?? '')) at += 1;
    else at = scanAttribute(scan, at, tag);
  }
  return { name: tag, start, end: at + 1, attributes: scan.attributes };
}

function scanAttribute(scan: Scan, from: number, tag: string): number {
  const { source, attributes } = scan;
  const nameEnd = skip(scan, from + 1, /[^\s=>/]/);
  const name = source.slice(from, nameEnd).toLowerCase();
  const equals = skip(scan, nameEnd, /\s/);
  if (source[equals] !== '=') return nameEnd;
  const open = skip(scan, equals + 1, /\s/);
  const character = source[open];
  const quote = character === '"' || character === "'" ? character : '';
  const start = open + quote.length;
  let end = start;
  while (end < source.length && !ends(source[end] ?? '', quote)) {
    end = Math.max(end + 1, liquidEnd(scan, end));
  }
  const value = source.slice(start, end);
  attributes.push({ tag, name, nameStart: from, start, end, value, quote });
  return end + quote.length;
}

function ends(character: string, quote: string): boolean {
  return quote === '' ? /[\s>]/.test(character) : character === quote;
}

function skip(scan: Scan, from: number, pattern: RegExp): number {
  let at = from;
  while (
    at < scan.source.length &&
    pattern.test(scan.source[at] ?? '') &&
    liquidEnd(scan, at) === at
  )
    at += 1;
  return at;
}

/** The source with the values of some attributes replaced, which are quoted then. */
export function replaceAttributes(
  source: string,
  replace: (attribute: Attribute) => string | undefined,
  options?: ScanOptions,
): string {
  let result = '';
  let at = 0;
  for (const attribute of scanAttributes(source, options)) {
    const value = replace(attribute);
    if (value === undefined) continue;
    result += source.slice(at, attribute.start) + (attribute.quote === '' ? `"${value}"` : value);
    at = attribute.end;
  }
  return result + source.slice(at);
}
