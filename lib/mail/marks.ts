/*
 * Marks: words in the source of a mail that stand for what is known only for one recipient.
 */

/** A value: its number, and where the output stands that wrote it. */
export function markOf(nonce: string, number: number, begin: number): string {
  return `${nonce}v${number}n${begin}z`;
}

/** The marks of values as those of values in which runs of white space become one space. */
export function withSpacedMarks(source: string, nonce: string): string {
  return source.replace(new RegExp(`(${nonce}v\\d+n\\d+)z`, 'g'), '$1sz');
}

/** A link, by its number in the structure. */
export function linkMarkOf(nonce: string, number: number): string {
  return `${nonce}l${number}z`;
}

/** The recipient's token in counted links and in the pixel. */
export function tokenMarkOf(nonce: string): string {
  return `${nonce}tz`;
}

/** The words of the text about a link, after the link's own, by its number in the structure. */
export function anchorMarkOf(nonce: string, number: number): string {
  return `${nonce}a${number}z`;
}

/** A text between marks, and what the marks stand for. */
export type Span =
  | { kind: 'text'; text: string }
  | { kind: 'value'; number: number; begin: number; isSpaced?: true }
  | { kind: 'link'; number: number }
  | { kind: 'anchor'; number: number }
  | { kind: 'token' };

/** A source, split at its marks. */
export function spansOf(source: string, nonce: string): Span[] {
  const spans: Span[] = [];
  let at = 0;
  for (const found of source.matchAll(patternOf(nonce))) {
    if (found.index > at) spans.push({ kind: 'text', text: source.slice(at, found.index) });
    at = found.index + found[0].length;
    spans.push(spanOf(found));
  }
  if (at < source.length) spans.push({ kind: 'text', text: source.slice(at) });
  return spans;
}

function spanOf([, value, begin, spaced, link, anchor]: RegExpExecArray): Span {
  if (value !== undefined) {
    const isSpaced = spaced === 's' && { isSpaced: true as const };
    return { kind: 'value', number: Number(value), begin: Number(begin), ...isSpaced };
  }
  if (link !== undefined) return { kind: 'link', number: Number(link) };
  if (anchor !== undefined) return { kind: 'anchor', number: Number(anchor) };
  return { kind: 'token' };
}

function patternOf(nonce: string): RegExp {
  return new RegExp(`${nonce}(?:v(\\d+)n(\\d+)(s?)|l(\\d+)|a(\\d+)|t)z`, 'g');
}

/** The source with some of its values in place of their marks. */
export function withValues(
  source: string,
  nonce: string,
  textFor: (number: number, at: number) => string | undefined,
): string {
  return source.replace(patternOf(nonce), (mark, number: string | undefined, ...rest) => {
    if (number === undefined) return mark;
    return textFor(Number(number), Number(rest.at(-2))) ?? mark;
  });
}
