import { escapeHtml } from '#lib/liquid/escape.ts';
import {
  htmlOf,
  type Markup,
  type MarkupPiece,
  type NodePlace,
  piecesOf,
} from '#lib/liquid/markup.ts';
import type { ValueEmitter } from '#lib/liquid/output.ts';

/** The end of what stands before the value of an address. */
const opensAddress = /(?:href|src|action|background|poster|data|-url|-icon)\s*=\s*$/i;

/** Longer than the longest name of an attribute that is looked for. */
const tagEnd = 20;

/**
 * HTML as Liquid writes it. The content of a capture is as if it stood where it is written; in an
 * attribute all HTML is text, so that no value ends one, by `raw` as well.
 */
export class PlainEmitter implements ValueEmitter {
  buffer = '';
  /** Addresses that hold nothing but the author's own text, or HTML by `raw`. */
  readonly owns = new Set<string>();
  /** Schemes with which the author's text of an address begins. */
  readonly schemes = new Set<string>();
  #place: 'text' | 'tag' | 'attribute' = 'text';
  /** The last characters of the tag, or of the text. */
  #tag = '';
  /** That ends the attribute; empty where white space does. */
  #quote = '';
  /** The author's text of the attribute, up to the first value. */
  #own = '';
  #isOwn = true;
  #isAddress = false;

  write(text: unknown): void {
    this.#add(String(text), true);
  }

  /** In a tag it is a word, which makes no attribute. Behind `<` it is the name of one. */
  value(text: string): void {
    const isName = this.#place === 'text' && /^<\/?$/.test(this.#tag);
    if (isName && /^[^\s\u200b]/.test(text)) this.#place = 'tag';
    const isBare = this.#place === 'tag' || (this.#isInAttribute && this.#quote === '');
    this.#add(isBare ? text.replace(/[^\w\s-]/g, '') : escapeHtml(text), false);
  }

  markup(markup: Markup): void {
    if (this.#isInAttribute) this.#attribute(htmlOf(markup));
    else this.#pieces(piecesOf(markup));
  }

  #pieces(pieces: readonly MarkupPiece[]): void {
    /** The outputs in captures that wrote the piece, the last one first. */
    const outputs: { node: NodePlace; isInAttribute: boolean }[] = [];
    for (const piece of pieces) {
      if (piece.kind === 'value') {
        this.value(piece.text);
        continue;
      }
      const nodes = piece.nodes?.toReversed() ?? [];
      const same = nodes.findIndex((node, at) => outputs[at]?.node !== node);
      outputs.splice(same < 0 ? nodes.length : same);
      for (const node of nodes.slice(outputs.length)) {
        outputs.push({ node, isInAttribute: this.#isInAttribute });
      }
      if (outputs.some((each) => each.isInAttribute)) this.#attribute(piece.html);
      else this.write(piece.html);
    }
  }

  get #isInAttribute(): boolean {
    return this.#place === 'attribute';
  }

  #attribute(html: string): void {
    this.#add(html.replace(/[<>"']/g, escapeHtml), false);
  }

  #add(text: string, isAuthors: boolean): void {
    this.buffer += text;
    for (const character of text) this.#read(character, isAuthors);
  }

  #read(character: string, isAuthors: boolean): void {
    if (this.#place === 'text') {
      if (/^<\/?$/.test(this.#tag) && /[a-z]/i.test(character)) this.#place = 'tag';
      this.#tag = this.#tag === '<' && character === '/' ? '</' : character;
    } else if (this.#place === 'tag') {
      if (character === '>') this.#place = 'text';
      else if (/=\s*$/.test(this.#tag) && !/\s/.test(character)) this.#open(character);
      this.#tag = (this.#tag + character).slice(-tagEnd);
    } else if (this.#quote === '' ? /[\s>]/.test(character) : character === this.#quote) {
      this.#close(character);
    } else if (isAuthors && this.#isOwn) this.#own += character;
    else if (!/\s/.test(character)) this.#isOwn = false;
  }

  #open(character: string): void {
    const isQuote = character === '"' || character === "'";
    this.#place = 'attribute';
    this.#quote = isQuote ? character : '';
    this.#own = isQuote ? '' : character;
    this.#isOwn = true;
    this.#isAddress = opensAddress.test(this.#tag);
  }

  #close(character: string): void {
    this.#place = character === '>' ? 'text' : 'tag';
    this.#tag = character;
    if (!this.#isAddress) return;
    const own = this.#own.trim();
    const [, scheme] = /^([a-z][a-z\d+.-]*):/i.exec(own) ?? [];
    if (scheme !== undefined) this.schemes.add(scheme.toLowerCase());
    if (this.#isOwn) this.owns.add(own);
  }
}
