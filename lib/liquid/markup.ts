/*
 * Values that are HTML already: what `capture` kept, and what filters such as `newline_to_br` made.
 *
 * Liquid works with their plain text, so that comparisons, sizes and filters see values as they
 * are. An output writes their HTML, in which values have been escaped once. A filter that only
 * joins or removes text keeps both; what any other filter makes is escaped as a whole, so that no
 * chain of filters turns a value into markup.
 */
import { Drop, type FilterImplOptions, TypeGuards, toValueSync } from 'liquidjs';
import { escapeHtml } from './escape.ts';

type Handler = Exclude<FilterImplOptions, { handler: unknown }>;
type This = ThisParameterType<Handler>;

// Symbols, since templates can read properties with names.
const asHtml = Symbol('html');
const asText = Symbol('text');

export class Markup extends Drop {
  readonly [asHtml]: string;
  readonly [asText]: string;

  constructor(html: string, text = html) {
    super();
    this[asHtml] = html;
    this[asText] = text;
  }

  /** What Liquid compares, measures and filters. */
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

export function htmlOf(markup: Markup): string {
  return markup[asHtml];
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
    return new Markup(String(handler.apply(this, [htmlOf(value), ...written])), String(text));
  };
}

const textOf = (value: unknown) => (value instanceof Markup ? value.valueOf() : value);

/** An argument that the author wrote is HTML; any other is a value. */
function argument(value: unknown, at: number, { token }: This): unknown {
  if (value instanceof Markup) return htmlOf(value);
  const written = 'args' in token && Array.isArray(token.args) ? token.args[at] : undefined;
  return TypeGuards.isQuotedToken(written) ? value : escapeHtml(value);
}

function escaped(value: unknown): unknown {
  if (typeof value === 'string') return new Markup(escapeHtml(value), value);
  return Array.isArray(value) ? value.map(escaped) : value;
}
