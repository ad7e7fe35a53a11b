/*
 * Values that are HTML already: what `capture` kept, and what filters such as `newline_to_br` made.
 *
 * Liquid works with their plain text, so that comparisons, sizes and filters see values as they
 * are. An output writes their HTML, in which values are kept apart and escaped once. A filter that
 * only joins or removes text keeps both; what any other filter makes is escaped as a whole, so that
 * no chain of filters turns a value into markup.
 */
import { Drop, type FilterImplOptions, TypeGuards, toValueSync } from 'liquidjs';
import { escapeHtml } from './escape.ts';

type Handler = Exclude<FilterImplOptions, { handler: unknown }>;
type This = ThisParameterType<Handler>;

/** Where an output or another node stands in its source. */
export type NodePlace = { begin: number };

/** A piece of markup: the author's HTML, HTML by `raw`, or a value that is text. */
export type MarkupPiece =
  | { kind: 'author' | 'raw'; html: string }
  | { kind: 'value'; text: string; node?: NodePlace };

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
  for (const piece of markup[asPieces]) {
    if (piece.kind !== 'value') html += piece.html;
    else {
      const mayLead = /^\s*($|(https?|mailto|tel|sms):|[/?#.])/i.test(piece.text);
      const isStopped = !mayLead && addressStart.test(html.slice(-addressStartMax));
      html += isStopped ? '#' : escapeHtml(piece.text);
    }
  }
  return html;
}

/** HTML that is the same to Liquid: by `raw`, or by a filter that has escaped it. */
export function rawValue(html: string): Markup {
  return new Markup([{ kind: 'raw', html }], html);
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

/** The filter, for values that may be markup. */
export function onMarkup(name: string, handler: Handler): Handler {
  return function (value, ...args) {
    if (!(value instanceof Markup) && !args.some((arg) => arg instanceof Markup)) {
      return handler.apply(this, [value, ...args]);
    }
    const text = toValueSync(handler.apply(this, [textOf(value), ...args.map(textOf)]));
    if (!(value instanceof Markup)) return text;
    if (text === value.valueOf()) return value;
    if (!joining.has(name)) return escaped(text);
    const written = args.map((arg, at) => argument(arg, at, this));
    const html = String(handler.apply(this, [htmlOf(value), ...written]));
    return new Markup([{ kind: 'raw', html }], String(text));
  };
}

const textOf = (value: unknown) => (value instanceof Markup ? value.valueOf() : value);

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
