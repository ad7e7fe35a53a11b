import { ContentError } from './content-error.ts';

/**
 * A tag of MJML's own; `whole` is an element without structure inside: content, a comment, or
 * nothing.
 */
export type Tag = {
  kind: 'opens' | 'closes' | 'whole';
  name: string;
  attributes: string;
  start: number;
  end: number;
};

/** Elements whose content MJML takes over as it is. */
const contentElements = new Set([
  'mj-text',
  'mj-button',
  'mj-raw',
  'mj-title',
  'mj-preview',
  'mj-style',
  'mj-table',
  'mj-social-element',
  'mj-navbar-link',
  'mj-accordion-title',
  'mj-accordion-text',
]);

const tagStart = /<!--|<\/?([a-zA-Z][\w-]*)/g;

/**
 * The tags of MJML, in order, without those inside of contents. Each character is read a bounded
 * number of times. Throws where a tag, a comment or a content does not end.
 */
export function* mjmlTags(mjml: string): Generator<Tag> {
  const pattern = new RegExp(tagStart);
  for (let found = pattern.exec(mjml); found; found = pattern.exec(mjml)) {
    const [text, name = ''] = found;
    const tag = name === '' ? comment(mjml, found.index) : element(mjml, found.index, text, name);
    yield tag;
    pattern.lastIndex = tag.end;
  }
}

function comment(mjml: string, start: number): Tag {
  const close = mjml.indexOf('-->', start);
  if (close < 0) throw new ContentError('a comment is not closed');
  return { kind: 'whole', name: '', attributes: '', start, end: close + 3 };
}

function element(mjml: string, start: number, text: string, name: string): Tag {
  const end = tagEnd(mjml, start + text.length, name);
  const attributes = mjml.slice(start + text.length, end - 1);
  if (text.startsWith('</')) return { kind: 'closes', name, attributes, start, end };
  if (attributes.endsWith('/')) return { kind: 'whole', name, attributes, start, end };
  if (!contentElements.has(name)) return { kind: 'opens', name, attributes, start, end };
  const close = mjml.indexOf(`</${name}`, end);
  if (close < 0) throw new ContentError(`<${name}> is not closed`);
  const closed = tagEnd(mjml, close + name.length + 2, name);
  return { kind: 'whole', name, attributes, start, end: closed };
}

/** Behind the `>` that ends a tag; one in quotes ends nothing. */
export function tagEnd(mjml: string, from: number, name: string): number {
  for (let at = from; at < mjml.length; at += 1) {
    const character = mjml[at];
    if (character === '>') return at + 1;
    if (character !== '"' && character !== "'") continue;
    const close = mjml.indexOf(character, at + 1);
    if (close < 0) break;
    at = close;
  }
  throw new ContentError(`<${name}> is not closed`);
}
