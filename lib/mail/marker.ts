/*
 * Collects what Liquid writes for one mail: its source with marks in place of values.
 *
 * The source is the mail's structure, the same for all whose Liquid takes the same ways. A mark is
 * a word that means nothing to MJML, HTML and the conversion to text. It replaces a value that is
 * text from its first visible character to its last; white space around it, tags in markup, and
 * words that MJML takes for booleans stay in the source, since the outcome depends on them.
 */
import { randomBytes } from 'node:crypto';
import { unescapeAttribute } from '../html/links.ts';
import { escapeHtml } from '../liquid/escape.ts';
import {
  htmlOf,
  type Markup,
  type MarkupPiece,
  type NodePlace,
  piecesOf,
} from '../liquid/markup.ts';
import type { ValueEmitter } from '../liquid/output.ts';
import { markOf } from './marks.ts';
import type { MailSource } from './source.ts';

/** A value that stands for a mark: as text, and as HTML, which the author may have said it is. */
export type MarkedValue = { text: string; html: string; isRaw?: true };

/** The output of Liquid for one mail. */
export type Marked = {
  source: string;
  /** By the number of their marks. */
  values: readonly MarkedValue[];
  /** Begins every mark. No value can know it. */
  nonce: string;
};

/** One a process, so that the same structure is the same text. */
const nonce = `m${randomBytes(6).toString('hex')}x`;

/** Words that an attribute of MJML turns into something else. */
const booleans = /^(true|false)$/;

type HtmlPiece = Exclude<MarkupPiece, { kind: 'value' }>;

export class Marker implements ValueEmitter {
  /** Unused: what is written is kept apart. */
  buffer = '';
  readonly #attributeAt: MailSource['attributeAt'];
  readonly #values: MarkedValue[] = [];
  readonly #count: (size: number) => void;
  #source = '';
  #key = '';

  /** `count` gets the characters of all that is written; it throws where there are too many. */
  constructor({ attributeAt }: MailSource, count: (size: number) => void) {
    this.#attributeAt = attributeAt;
    this.#count = count;
  }

  /** All that the structure depends on, in the order in which it was written. */
  get key(): string {
    return this.#key;
  }

  /** By the number of their marks. */
  get values(): readonly MarkedValue[] {
    return this.#values;
  }

  marked(): Marked {
    return { source: this.#source, values: this.#values, nonce };
  }

  /** The author's text, where the caller notes the way that led to it. */
  text(text: string): void {
    this.#count(text.length);
    this.#source += text;
    this.#key += 't';
  }

  /** Notes a way that was taken. */
  way(choice: string | number): void {
    this.#key += `w${choice};`;
  }

  /** The author's text. */
  write(text: unknown): void {
    const written = String(text);
    this.text(written);
    this.#key += `${written.length}:${written}`;
  }

  value(text: string, node: NodePlace): void {
    this.#visible(text, node, textValue);
  }

  /** In an attribute it is all text, which ends no attribute. */
  markup(markup: Markup, node: NodePlace): void {
    const name = this.#attributeAt(node.begin);
    if (name !== undefined) {
      this.#inAttribute(htmlOf(markup), name, node);
      return;
    }
    for (const piece of piecesOf(markup)) {
      if (piece.kind === 'value') this.value(piece.text, piece.node ?? node);
      else this.#html(piece, node);
    }
  }

  #html({ kind, html, nodes = [] }: HtmlPiece, node: NodePlace): void {
    const within = nodes.map(({ begin }) => this.#attributeAt(begin)).find((name) => name);
    if (within !== undefined) this.#inAttribute(html, within, node);
    else if (kind === 'author') this.write(html);
    else this.#raw(html, node);
  }

  /** Only an `alt` comes into the text part, where references have to be known. */
  #inAttribute(html: string, name: string, node: NodePlace): void {
    const written = html.replace(/[<>"']/g, escapeHtml);
    const isPlain = name !== 'alt' || escapeHtml(unescapeAttribute(written)) === written;
    if (isPlain) this.#visible(written, node, attributeValue);
    else this.write(written);
  }

  /** Tags and comments stay in the source. So does text that is not spelled as a value would be. */
  #raw(html: string, node: NodePlace): void {
    for (const [run] of html.matchAll(/<!--[\s\S]*?(?:-->|$)|<[^<>]*>?|[^<]+/g)) {
      const text = unescapeAttribute(run);
      if (!run.startsWith('<') && escapeHtml(text) === run) this.#visible(text, node, rawValue);
      else this.write(run);
    }
  }

  /** A mark, and the white space around it. */
  #visible(text: string, node: NodePlace, marked: (inner: string) => MarkedValue): void {
    let start = 0;
    let end = text.length;
    while (start < end && isSpace(text.charCodeAt(start))) start += 1;
    while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1;
    const inner = text.slice(start, end);
    if (inner === '' || booleans.test(inner)) {
      this.write(text);
      return;
    }
    if (start > 0) this.write(text.slice(0, start));
    this.#mark(marked(inner), node);
    if (end < text.length) this.write(text.slice(end));
  }

  #mark(value: MarkedValue, { begin }: NodePlace): void {
    this.#count(value.html.length);
    this.#key += `${value.isRaw ? 'r' : 'm'}${begin};`;
    this.#source += markOf(nonce, this.#values.length, begin);
    this.#values.push(value);
  }
}

function textValue(text: string): MarkedValue {
  return { text, html: escapeHtml(text) };
}

function rawValue(text: string): MarkedValue {
  return { text, html: escapeHtml(text), isRaw: true };
}

function attributeValue(html: string): MarkedValue {
  return { text: unescapeAttribute(html), html };
}

/** White space of JavaScript, which MJML trims, and the one more that the text part knows. */
function isSpace(code: number): boolean {
  if (code < 128) return code === 32 || (code >= 9 && code <= 13);
  return code === 0x200b || /\s/.test(String.fromCharCode(code));
}
