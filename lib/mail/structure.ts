/*
 * Compiles the structure of a mail: what is the same for all recipients whose Liquid takes the same
 * ways, in pieces, between which their values are filled in.
 *
 * Order: values that decide what is compiled are put in; MJML to HTML; links are numbered and
 * counted; the text part is what the HTML says. Marks pass through all of it as words.
 *
 * Runs in threads that can be killed: MJML takes some 10 ms.
 */
import { type Attribute, scanAttributes } from '../html/attributes.ts';
import { isWebUrl, linkTags, unescapeAttribute, utmWriter } from '../html/links.ts';
import { htmlToText, plainAnchor } from '../html/text.ts';
import { isCountable, type LinkNumbers, type LinkOptions, numberByOutput } from './links.ts';
import type { Marked } from './marker.ts';
import {
  anchorMarkOf,
  linkMarkOf,
  type Span,
  spansOf,
  tokenMarkOf,
  withSpacedMarks,
} from './marks.ts';
import { mjmlToHtml } from './mjml.ts';
import { type Deciding, type SourceKind, settled, useOf } from './structural.ts';
import { fixedAddress, isAddress, isAuthors, isScript, nowhere } from './urls.ts';

/** A source to compile, and how its links are. */
export type StructureRequest = {
  kind: SourceKind;
  marked: Marked;
  links: LinkOptions;
  numbers: LinkNumbers;
  /** Whether the text part is made from the HTML. */
  derivesText: boolean;
};

export type Piece<Static = string> = { kind: 'static'; piece: Static; size: number } | DynamicPiece;

type DynamicPiece = Exclude<Span, { kind: 'text' }>;

/** An address that is made for each recipient. */
export type StructureLink = {
  parts: readonly Piece[];
  start: string;
  attribute: string;
  number: number | undefined;
};

/** The words of the text about a link, after the link's own, where they depend on the recipient. */
export type StructureAnchor = {
  words: readonly Piece[];
  /** The link whose address is compared with the words, or an address. */
  link: number | undefined;
  address: string;
  /** As the text has it. */
  written: readonly Piece[];
  /** The text before its brackets. */
  space: '' | ' ';
};

export type Structure<Static = string> = {
  html: readonly Piece<Static>[];
  text: readonly Piece<Static>[];
  links: readonly StructureLink[];
  anchors: readonly StructureAnchor[];
};

/**
 * `deciding` are the values that the structure depends on: first those that MJML sees, and then
 * those of the links in what MJML made of them.
 */
export type CompiledStructure = { structure: Structure; deciding: Deciding[][] };

/** Throws the mistakes of MJML. A preview brings its own `compile`, which looks at them. */
export async function compileStructure(
  request: StructureRequest,
  compile = async (mjml: string) => (await mjmlToHtml(mjml)).html,
): Promise<CompiledStructure> {
  const { kind, marked } = request;
  const { source, deciding } = settled(marked, kind, request.links.schemes);
  const html = kind === 'mjml' ? await compile(source) : source;
  const { structure, links } = structureOf(html, request);
  return { structure, deciding: [deciding, links].filter((each) => each.length > 0) };
}

/** The structure of HTML whose values are marks, and the links that decide on it. */
function structureOf(
  html: string,
  request: StructureRequest,
): { structure: Structure; links: Deciding[] } {
  const { nonce } = request.marked;
  const links = new Links(request);
  const linked = links.rewrite(
    request.kind === 'mjml' ? withSpacedConditionals(html, nonce) : html,
  );
  const text = request.derivesText ? links.textOf(linked.forText) : '';
  const structure = {
    html: piecesOf(linked.html, nonce),
    text: piecesOf(text, nonce),
    links: links.all,
    anchors: links.anchors,
  };
  return { structure, links: links.deciding };
}

/** MJML leaves single spaces in what Outlook reads, or leaves out. */
function withSpacedConditionals(html: string, nonce: string): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end } of conditionals(html)) {
    parts.push(html.slice(at, start), withSpacedMarks(html.slice(start, end), nonce));
    at = end;
  }
  return parts.join('') + html.slice(at);
}

function staticPiece(text: string): Piece {
  return { kind: 'static', piece: text, size: Buffer.byteLength(text) };
}

const opening = /<!--\[if\s[^\]<]+\]>/g;
const closing = '<![endif]-->';

/** The comments that Outlook reads. Each search begins where the last one ended. */
function conditionals(html: string): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  for (const { 0: open, index } of html.matchAll(opening)) {
    if (index < (found.at(-1)?.end ?? 0)) continue;
    const close = html.indexOf(closing, index + open.length);
    if (close < 0) break;
    found.push({ start: index, end: close + closing.length });
  }
  return found;
}

function piecesOf(text: string, nonce: string): Piece[] {
  return spansOf(text, nonce).map((span) => (span.kind === 'text' ? staticPiece(span.text) : span));
}

/** A link as the text part has it. */
type TextLink = { link: number | undefined; address: string; written: string };

class Links {
  readonly all: StructureLink[] = [];
  readonly anchors: StructureAnchor[] = [];
  /** Links that may not be used with some values. */
  readonly deciding: Deciding[] = [];
  readonly #request: StructureRequest;
  readonly #nonce: string;
  readonly #withUtm: (url: string) => string;
  /** By the number of the mark that stands in their `href` while the text is made. */
  readonly #inText: TextLink[] = [];

  constructor(request: StructureRequest) {
    this.#request = request;
    this.#nonce = request.marked.nonce;
    this.#withUtm = utmWriter(request.links.utm, '&amp;');
  }

  /** HTML as it is sent, and HTML to make the text from. */
  rewrite(source: string): { html: string; forText: string } {
    const html: string[] = [];
    const forText: string[] = [];
    let at = 0;
    for (const attribute of scanAttributes(source, { hasLiquid: false })) {
      const written = this.#attribute(attribute);
      if (!written) continue;
      const before = source.slice(at, attribute.start);
      const quote = attribute.quote === '' ? '"' : '';
      html.push(before, quote, written.html, quote);
      forText.push(before, quote, written.text, quote);
      at = attribute.end;
    }
    const rest = source.slice(at);
    html.push(rest);
    forText.push(rest);
    return { html: this.#withPixel(html.join('')), forText: forText.join('') };
  }

  textOf(html: string): string {
    const write = (href: string, words: string) => this.#anchor(href, words);
    return this.#withoutSpaces(htmlToText(html, write, Number.POSITIVE_INFINITY));
  }

  /** Undefined where the attribute stays as it is. */
  #attribute(attribute: Attribute): { html: string; text: string } | undefined {
    const { tag, name, value } = attribute;
    if (!isAddress(name)) return undefined;
    const isLink = name === 'href' && linkTags.has(tag);
    const isList = name === 'srcset';
    const parts = piecesOf(isList ? value : value.trim(), this.#nonce);
    const outputs = parts.filter((part) => part.kind === 'value');
    if (outputs.length > 0) {
      const { numbers } = this.#request;
      const begins = outputs.map(({ begin }) => begin);
      const use = isLink ? this.#useOf(parts) : 'link;';
      if (use === 'stopped;') return { html: nowhere, text: nowhere };
      const written = this.#recipients({
        parts,
        start: startOf(parts),
        attribute: name,
        number: isLink ? numberByOutput(numbers, begins) : undefined,
      });
      return use === 'here;' ? { ...written, text: nowhere } : written;
    }
    if (isList && !isScript(value)) return undefined;
    const address = fixedAddress(value);
    if (isLink && address === '') return { html: nowhere, text: nowhere };
    if (isLink && isWebUrl(address)) return this.#fixed(address);
    return address === value ? undefined : { html: address, text: address };
  }

  #useOf(pieces: readonly Piece[]): ReturnType<typeof useOf> {
    const start = startOf(pieces);
    if (isAuthors(start)) return start.startsWith('#') ? 'here;' : 'link;';
    const parts = pieces.map((piece) => {
      if (piece.kind === 'value') return piece.number;
      return piece.kind === 'static' ? piece.piece : '';
    });
    const { links, marked } = this.#request;
    const decision = { by: 'address' as const, parts, schemes: links.schemes };
    this.deciding.push(decision);
    return useOf(decision, marked.values);
  }

  /** A link that is the same for all recipients but for the token. */
  #fixed(value: string): { html: string; text: string } | undefined {
    const { links, numbers } = this.#request;
    const { tracking } = links;
    if (tracking && value.startsWith(tracking.clicks)) return undefined;
    const target = this.#withUtm(value);
    const address = unescapeAttribute(target);
    if (!tracking || !isCountable(address)) {
      return { html: target, text: this.#textMark({ link: undefined, address, written: address }) };
    }
    const number = numberIn(numbers.addresses, address);
    if (number === undefined) {
      const parts = piecesOf(value, this.#nonce);
      const other = numberIn(numbers.choices, unescapeAttribute(value)) ?? numbers.other;
      return this.#recipients({ parts, start: value, attribute: 'href', number: other });
    }
    const written = `${tracking.clicks}${tokenMarkOf(this.#nonce)}/${number}`;
    return { html: written, text: this.#textMark({ link: undefined, address, written }) };
  }

  /** A link that is made for each recipient. */
  #recipients(link: StructureLink): { html: string; text: string } {
    const number = this.all.push(link) - 1;
    const written = linkMarkOf(this.#nonce, number);
    return { html: written, text: this.#textMark({ link: number, address: '', written }) };
  }

  #textMark(link: TextLink): string {
    return linkMarkOf(this.#nonce, this.#inText.push(link) - 1);
  }

  #anchor(href: string, words: string): string {
    const [span] = spansOf(href, this.#nonce);
    const link = span?.kind === 'link' ? this.#inText[span.number] : undefined;
    if (!link) return plainAnchor(href, words);
    const wordPieces = piecesOf(words, this.#nonce);
    const isFixed = link.link === undefined && wordPieces.every(({ kind }) => kind === 'static');
    if (isFixed) {
      if (link.address === words) return '';
      return words === '' ? ` ${link.written} ` : ` (${link.written})`;
    }
    const written = piecesOf(link.written, this.#nonce);
    const { address } = link;
    const anchor = { words: wordPieces, link: link.link, address, written, space: '' as const };
    const mark = anchorMarkOf(this.#nonce, this.anchors.push(anchor) - 1);
    return words === '' ? ` ${mark} ` : ` ${mark}`;
  }

  /** The space before brackets is written only with them. At the start of a line there is none. */
  #withoutSpaces(text: string): string {
    const spaced = new RegExp(` (${this.#nonce}a(\\d+)z)`, 'g');
    return text.replace(spaced, (found, mark: string, number: string) =>
      this.#takesSpace(Number(number)) ? mark : found,
    );
  }

  #takesSpace(number: number): boolean {
    const anchor = this.anchors[number];
    if (!anchor || anchor.words.length === 0) return false;
    this.anchors[number] = { ...anchor, space: ' ' };
    return true;
  }

  #withPixel(html: string): string {
    const { tracking } = this.#request.links;
    if (!tracking) return html;
    const address = tracking.opens + tokenMarkOf(this.#nonce);
    const pixel = `<img src="${address}" width="1" height="1" alt="" style="display:block">`;
    const end = [...html.matchAll(/<\/body>/gi)].at(-1)?.index ?? html.length;
    return html.slice(0, end) + pixel + html.slice(end);
  }
}

function startOf([first]: readonly Piece[]): string {
  return first?.kind === 'static' ? first.piece : '';
}

function numberIn(numbers: Readonly<Record<string, number>>, address: string): number | undefined {
  return Object.hasOwn(numbers, address) ? numbers[address] : undefined;
}
