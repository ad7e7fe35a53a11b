import { protectLiquid } from './protect.ts';
import { mjmlTags, type Tag } from './tags.ts';

export type Range = { start: number; end: number };

/** A part of a whole that is made from two sources. */
export type OutlinePiece = {
  text: string;
  /** The line in its source on which it begins. */
  line: number;
  from: 'own' | 'layout';
};

/** A range that is replaced. */
export type Cut = Range & { pieces: readonly OutlinePiece[] };

/** Where the parts of a document in MJML stand. */
export type Outline = {
  /** The opening tag of `mjml`. */
  root?: Range;
  /** The content of the first `mj-head`. */
  head?: Range;
  /** An `mj-head` that is closed in its own tag. */
  emptyHead?: Range;
  /** Elements of the head of which a document has one. */
  once: (Range & { name: string })[];
  /** The content of the first `mj-body`. */
  body?: Range;
  /** Ranges between tags where sections may stand. */
  sectionPlaces: Range[];
  /** Liquid outside of head and body. */
  outside: { before: Range[]; after: Range[] };
};

const paths = {
  outside: ['', 'mjml'],
  sections: ['mjml mj-body', 'mjml mj-body mj-wrapper'],
};

/** Finds the parts of MJML, whose Liquid may hold anything. Throws where tags do not nest. */
export function outlineOf(mjml: string): Outline {
  const found: Outline = { once: [], sectionPlaces: [], outside: { before: [], after: [] } };
  const walk = new Walk(mjml, found);
  for (const tag of mjmlTags(walk.hidden)) walk.take(tag);
  walk.end();
  return found;
}

/** Reads tags of MJML whose Liquid is hidden, and notes places in the MJML as it is. */
class Walk {
  readonly hidden: string;
  readonly #found: Outline;
  readonly #restore: (text: string) => string;
  readonly #open: { name: string; end: number }[] = [];
  /** The same place in the hidden MJML and in the source. */
  #at = 0;
  #sourceAt = 0;

  constructor(mjml: string, found: Outline) {
    const { mjml: hidden, restore } = protectLiquid(mjml);
    this.hidden = hidden;
    this.#restore = restore;
    this.#found = found;
  }

  take(tag: Tag): void {
    this.#between(this.#move(tag.start));
    const path = this.#path();
    const range = this.#move(tag.end);
    if (tag.kind === 'opens') this.#opens(tag, range);
    else if (tag.kind === 'closes') this.#closes(range);
    else this.#whole(tag, range, path);
  }

  end(): void {
    this.#between(this.#move(this.hidden.length));
  }

  #path(): string {
    return this.#open.map(({ name }) => name).join(' ');
  }

  #move(to: number): Range {
    const start = this.#sourceAt;
    this.#sourceAt += this.#restore(this.hidden.slice(this.#at, to)).length;
    this.#at = to;
    return { start, end: this.#sourceAt };
  }

  #between(range: Range): void {
    if (range.start === range.end) return;
    const path = this.#path();
    if (paths.sections.includes(path)) this.#found.sectionPlaces.push(range);
    else if (paths.outside.includes(path)) {
      const { outside, body } = this.#found;
      (body ? outside.after : outside.before).push(range);
    }
  }

  #opens({ name }: Tag, range: Range): void {
    if (name === 'mjml' && this.#open.length === 0) this.#found.root ??= range;
    this.#open.push({ name, end: range.end });
  }

  #closes({ start }: Range): void {
    const opened = this.#open.pop();
    if (this.#path() !== 'mjml' || !opened) return;
    const content = { start: opened.end, end: start };
    if (opened.name === 'mj-head') this.#found.head ??= content;
    if (opened.name === 'mj-body') this.#found.body ??= content;
  }

  #whole({ name }: Tag, range: Range, path: string): void {
    if (path === '' && name === 'mjml') this.#found.root ??= range;
    if (path === 'mjml' && name === 'mj-head') this.#found.emptyHead ??= range;
    if (path === 'mjml' && name === 'mj-body') {
      this.#found.body ??= { start: range.end, end: range.end };
    }
    if (path === 'mjml mj-head' && (name === 'mj-title' || name === 'mj-preview')) {
      this.#found.once.push({ ...range, name });
    }
  }
}

export function textOf(source: string, { start, end }: Range): { text: string; line: number } {
  return { text: source.slice(start, end), line: source.slice(0, start).split('\n').length };
}
