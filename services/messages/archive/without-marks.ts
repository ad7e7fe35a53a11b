/*
 * A mail for anyone who has the link of its web version.
 *
 * Every token of a message begins with its id, so what holds one is found whatever surrounds it. A
 * counted link becomes the address that it leads to; any other attribute with a token is cut, and
 * in text the word that holds one. The last step looks at the whole once more, as a browser may see
 * tags where this reader sees none.
 */

import { type Attribute, scanAttributes } from '#lib/html/attributes.ts';
import { unescapeAttribute } from '#lib/html/links.ts';
import { tokenPrefix } from '../links/token.ts';

/** Where a counted link leads; undefined for any other address. */
export type TargetOf = (url: string) => string | undefined;

/**
 * HTML without its tokens, and without attributes of its own that say where its links open. A link
 * to a place within the mail stays within the frame that shows it.
 */
export function htmlWithoutMarks(html: string, messageId: string, targetOf: TargetOf): string {
  const prefix = tokenPrefix(messageId);
  let kept = '';
  let at = 0;
  for (const attribute of scanAttributes(html, { hasLiquid: false })) {
    const change = changeOf(attribute, prefix, targetOf);
    if (!change || change.start < at) continue;
    kept += html.slice(at, change.start) + change.value;
    at = change.end;
  }
  return textWithoutMarks(kept + html.slice(at), messageId);
}

/** Text without the words that hold a token. */
export function textWithoutMarks(text: string, messageId: string): string {
  const prefix = tokenPrefix(messageId);
  let kept = '';
  let at = 0;
  for (let found = text.indexOf(prefix); found >= 0; found = text.indexOf(prefix, at)) {
    let start = found;
    while (start > at && !isBreak(text[start - 1])) start -= 1;
    let end = found + prefix.length;
    while (end < text.length && !isBreak(text[end])) end += 1;
    kept += text.slice(at, start);
    at = end;
  }
  return kept + text.slice(at);
}

function isBreak(character: string | undefined): boolean {
  return character === undefined || /[\s<>"'()]/.test(character);
}

/** The source from `start` to `end` is replaced by `value`. */
type Change = { start: number; end: number; value: string };

function changeOf(attribute: Attribute, prefix: string, targetOf: TargetOf): Change | undefined {
  const { name, nameStart, start, end, value, quote } = attribute;
  const cut = { start: nameStart, end: end + quote.length, value: '' };
  if (name === 'target') return cut;
  if (!value.includes(prefix)) {
    const isWithin = name === 'href' && value.trimStart().startsWith('#');
    return isWithin ? { ...cut, value: linkWithin(attribute) } : undefined;
  }
  const target = name === 'href' ? targetOf(unescapeAttribute(value)) : undefined;
  if (target === undefined || target.includes(prefix)) return cut;
  const escaped = target.replace(/[&"'<>]/g, (character) => `&#${character.charCodeAt(0)};`);
  return { start, end, value: quote === '' ? `"${escaped}"` : escaped };
}

/** In a frame a fragment alone belongs to the address of the page around it. */
function linkWithin({ value, quote }: Attribute): string {
  const mark = quote || '"';
  const escaped = value.trim().replaceAll(mark, `&#${mark.charCodeAt(0)};`);
  return `target="_self" href=${mark}about:srcdoc${escaped}${mark}`;
}
