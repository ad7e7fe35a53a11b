/*
 * Values that are HTML already: what `capture` kept, and what filters such as `newline_to_br` made.
 *
 * Liquid works with their plain text, so that comparisons, sizes and filters see values as they
 * are. An output writes their HTML, in which values stay apart and are escaped once. A filter that
 * only joins or removes text keeps both, also in a list; what any other filter makes is escaped as
 * a whole, so that no chain of filters turns a value into markup.
 */
import { Drop, type FilterImplOptions, TypeGuards, toValueSync } from 'liquidjs';
import { escapeHtml, isObjectValue, textOfValue } from './escape.ts';

type Handler = Exclude<FilterImplOptions, { handler: unknown }>;
type This = ThisParameterType<Handler>;

/** The place of an output or another node in its source. */
export type NodePlace = { begin: number };

/**
 * A piece of markup: the author's HTML, HTML by `raw`, or a value that is text. HTML has the
 * outputs that wrote it into captures. A plain value was joined to markup, so that `raw` makes it
 * HTML as it does where it stands alone.
 */
export type MarkupPiece =
  | { kind: 'author' | 'raw'; html: string; nodes?: readonly NodePlace[] }
  | { kind: 'value'; text: string; node?: NodePlace; isPlain?: boolean };

// Symbols, since templates can read properties with names.
const asPieces = Symbol('pieces');
const asText = Symbol('text');

export class Markup extends Drop {
  readonly [asPieces]: readonly MarkupPiece[];
  readonly [asText]: string;

  constructor(pieces: readonly MarkupPiece[], text: string) {
    super();
    this[asPieces] = pieces;
    this[asText] = text;
  }

  /** The text that Liquid compares, measures and filters. */
  override valueOf(): string {
    return this[asText];
  }

  override toString(): string {
    return this[asText];
  }

  toJSON(): string {
    return this[asText];
  }

  get size(): number {
    return this[asText].length;
  }

  get length(): number {
    return this[asText].length;
  }
}

export function piecesOf(markup: Markup): readonly MarkupPiece[] {
  return markup[asPieces];
}

/** Behind this a value decides where an address leads. */
const addressStartMax = 40;
const addressStart = /(?:href|src|action|background|poster|-url)\s*=\s*["']\s*$/i;

/** The HTML as one text. Values that begin an address lead to no script. */
export function htmlOf(markup: Markup): string {
  let html = '';
  // Its end, since reading that of a text that grows would copy all of it.
  let end = '';
  for (const piece of markup[asPieces]) {
    const written = piece.kind === 'value' ? guarded(piece.text, end) : piece.html;
    html += written;
    end = (end + written.slice(-addressStartMax)).slice(-addressStartMax);
  }
  return html;
}

function guarded(text: string, before: string): string {
  const mayLead = /^\s*($|(https?|mailto|tel|sms):|[/?#.])/i.test(text);
  return !mayLead && addressStart.test(before) ? '#' : escapeHtml(text);
}

/** HTML that is the same to Liquid: by `raw`, or by a filter that has escaped it. */
export function rawValue(html: string): Markup {
  return markupOf(html, html);
}

/** A value with line breaks as HTML has them. */
export function withBreaks(value: unknown, toHtml: (value: unknown) => string): Markup {
  const pieces: readonly MarkupPiece[] =
    value instanceof Markup ? value[asPieces] : [{ kind: 'raw', html: toHtml(value) }];
  const broken = pieces.flatMap((piece): MarkupPiece[] => {
    if (piece.kind !== 'value') {
      return [{ ...piece, html: piece.html.replace(/\r?\n/g, '<br />\n') }];
    }
    const [first = '', ...lines] = piece.text.split(/\r?\n/);
    const line = (text: string): MarkupPiece => ({ ...piece, text });
    return [
      line(first),
      ...lines.flatMap((text) => [{ kind: 'author' as const, html: '<br />\n' }, line(text)]),
    ];
  });
  const made = new Markup(broken, '');
  return new Markup(broken, htmlOf(made));
}

/** Filters that keep what they are given but for a text that they add, remove or exchange. */
const joining = new Set(
  'append prepend replace replace_first replace_last remove remove_first remove_last strip lstrip rstrip strip_newlines'.split(
    ' ',
  ),
);

/** Filters of lists that keep what they add, and those that answer an element as it is. */
const adding = new Set(['push', 'unshift']);
const choosing = new Set(['first', 'last', 'find', 'find_exp', 'sample', 'default']);

/** The filter, for values that may be markup. */
export function onMarkup(name: string, handler: Handler): Handler {
  return function (value, ...args) {
    const filter = (given: unknown, ...others: unknown[]): unknown =>
      toValueSync(handler.apply(this, [given, ...others]));
    const written = () => args.map((arg, at) => argument(arg, at, this));
    if (value instanceof Markup) {
      const text = filter(value.valueOf(), ...args.map(textOf));
      if (text === value.valueOf()) return value;
      // Parts of what has no values are as good as all of it.
      if (name === 'split' && !hasValues(value))
        return listOf(text).map((part) => listMarkup([part]));
      if (!joining.has(name)) return escaped(text);
      return markupOf(String(filter(htmlOf(value), ...written())), String(text));
    }
    if ([value, ...args].some(Array.isArray)) {
      const made = filter(value, ...(adding.has(name) ? args : args.map(textOf)));
      const isNew = typeof made === 'string' && !choosing.has(name);
      if (!isNew || ![value, ...args].some(holdsMarkup)) return made;
      if (name !== 'join' || !Array.isArray(value)) return escaped(made);
      return listMarkup(value, args.length > 0 ? args[0] : ' ');
    }
    if (!args.some((arg) => arg instanceof Markup)) return handler.apply(this, [value, ...args]);
    const text = filter(value, ...args.map(textOf));
    if (text === value) return text;
    const same = args.find((arg) => arg instanceof Markup && arg.valueOf() === text);
    if (same) return same;
    if (name === 'append') return listMarkup([value, args[0]]);
    if (name === 'prepend') return listMarkup([args[0], value]);
    if (!joining.has(name)) return escaped(text);
    return markupOf(String(filter(escapeHtml(value), ...written())), String(text));
  };
}

const hasValues = (markup: Markup) => markup[asPieces].some(({ kind }) => kind === 'value');
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const textOf = (value: unknown) => (value instanceof Markup ? value.valueOf() : value);
const markupOf = (html: string, text: string) => new Markup([{ kind: 'raw', html }], text);

/** Whether a value is markup, or a list or an object with some in it. */
export function holdsMarkup(value: unknown): boolean {
  if (value instanceof Markup) return true;
  if (Array.isArray(value)) return value.some(holdsMarkup);
  return isObjectValue(value) && Object.values(value as object).some(holdsMarkup);
}

/** The elements of a list as one markup. */
export function listMarkup(list: readonly unknown[], separator: unknown = ''): Markup {
  const between = piecesIn(separator);
  const pieces = list.flatMap((each, at) => [...(at > 0 ? between : []), ...piecesIn(each)]);
  const text = pieces.map((piece) => (piece.kind === 'value' ? piece.text : piece.html)).join('');
  return new Markup(pieces, text);
}

function piecesIn(value: unknown): readonly MarkupPiece[] {
  if (value instanceof Markup) return value[asPieces];
  if (Array.isArray(value)) return value.flatMap(piecesIn);
  return [{ kind: 'value', text: textOfValue(value), isPlain: !holdsMarkup(value) }];
}

/** Markup whose plain texts are HTML, by `raw`. */
export function withRawTexts(markup: Markup): Markup {
  const pieces = markup[asPieces];
  if (!pieces.some((piece) => piece.kind === 'value' && piece.isPlain)) return markup;
  const raw = pieces.map((piece): MarkupPiece => {
    return piece.kind === 'value' && piece.isPlain ? { kind: 'raw', html: piece.text } : piece;
  });
  return new Markup(raw, markup[asText]);
}

/** An argument that the author wrote is HTML; any other is a value. */
function argument(value: unknown, at: number, { token }: This): unknown {
  if (value instanceof Markup) return htmlOf(value);
  const written = 'args' in token && Array.isArray(token.args) ? token.args[at] : undefined;
  return TypeGuards.isQuotedToken(written) ? value : escapeHtml(value);
}

/** Keeps what a filter made of markup from becoming markup, by `raw` as well. */
function escaped(value: unknown): unknown {
  if (typeof value === 'string') return new Markup([{ kind: 'value', text: value }], value);
  return Array.isArray(value) ? value.map(escaped) : value;
}
