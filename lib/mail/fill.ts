/*
 * Fills a recipient's values into a structure.
 */
import { escapeHtml } from '../liquid/escape.ts';
import type { LinkRecipient, WriteLink, WrittenLink } from './links.ts';
import type { MarkedValue } from './marker.ts';
import type { Piece, Structure, StructureAnchor, StructureLink } from './structure.ts';

/** One recipient's values for a structure. */
export type Filling = {
  values: readonly MarkedValue[];
  recipient: LinkRecipient;
  writeLink: WriteLink;
};

/** Takes a part; its size is in bytes, or characters. */
type Take<Static> = (part: Static | string, size: number) => void;

/** The parts as one text. */
export function joined(fill: (take: Take<string>) => void): string {
  let text = '';
  fill((part) => {
    text += part;
  });
  return text;
}

/** As MJML writes it where Outlook alone reads, or leaves out. */
function spaced(text: string): string {
  return text.replace(/\s{2,}/g, ' ');
}

/** White space as the conversion to text knows it. */
const runs = /[ \t\r\n\f\u200b]+/g;

/** A structure's links and values for one recipient; each link is made once. */
export class Filler<Static> {
  readonly #structure: Structure<Static>;
  readonly #filling: Filling;
  readonly #links: (WrittenLink | undefined)[] = [];

  constructor(structure: Structure<Static>, filling: Filling) {
    this.#structure = structure;
    this.#filling = filling;
  }

  /** The parts of the HTML, in order. `take` gets each before the next one is made. */
  readonly html = (take: Take<Static>): void => {
    for (const piece of this.#structure.html) {
      if (piece.kind === 'static') take(piece.piece, piece.size);
      else {
        const text = this.#htmlOf(piece);
        take(text, text.length);
      }
    }
  };

  /** The parts of the text, in the same way. */
  readonly text = (take: Take<Static>): void => {
    for (const piece of this.#structure.text) {
      if (piece.kind === 'static') take(piece.piece, piece.size);
      else {
        const text = this.#textOf(piece);
        take(text, text.length);
      }
    }
  };

  /** The links that were made for this recipient, by their number in the structure. */
  link(number: number): WrittenLink {
    const made = this.#links[number];
    if (made) return made;
    const link = this.#structure.links[number];
    const written = link ? this.#write(link) : { url: '', link: '' };
    this.#links[number] = written;
    return written;
  }

  #write({ parts, start, attribute, number }: StructureLink): WrittenLink {
    const { writeLink, recipient } = this.#filling;
    const rendered = parts.map((part) => this.#htmlOf(part)).join('');
    return writeLink({ rendered, start, attribute, number }, recipient);
  }

  #htmlOf(piece: Piece): string {
    switch (piece.kind) {
      case 'static':
        return piece.piece;
      case 'value': {
        const { html = '' } = this.#filling.values[piece.number] ?? {};
        return piece.isSpaced ? spaced(html) : html;
      }
      case 'link':
        return escapeHtml(this.link(piece.number).link);
      case 'token':
        return this.#filling.recipient.token;
      case 'anchor':
        return '';
    }
  }

  #textOf(piece: Piece): string {
    switch (piece.kind) {
      case 'static':
        return piece.piece;
      case 'value': {
        const { text = '' } = this.#filling.values[piece.number] ?? {};
        return (piece.isSpaced ? spaced(text) : text).replace(runs, ' ');
      }
      case 'link':
        return this.link(piece.number).link.replace(runs, ' ');
      case 'token':
        return this.#filling.recipient.token;
      case 'anchor': {
        const anchor = this.#structure.anchors[piece.number];
        return anchor ? this.#anchor(anchor) : '';
      }
    }
  }

  /** As `plainAnchor` says it of an address that is the same for all. */
  #anchor({ words, link, address, written, space }: StructureAnchor): string {
    const url = (link === undefined ? address : this.link(link).url).replace(/^mailto:/, '');
    if (url === '' || url.startsWith('#')) return '';
    const seen = words.map((word) => this.#textOf(word)).join('');
    if (seen.replace(/ /g, '') === url) return '';
    const shown = written
      .map((part) => this.#textOf(part))
      .join('')
      .replace(/^mailto:/, '');
    return seen === '' ? shown : `${space}(${shown})`;
  }
}
