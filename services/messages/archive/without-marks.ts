/*
 * A mail for anyone who has the link of its web version.
 *
 * Every token of a message begins with its id, so what holds one is found whatever surrounds it. A
 * counted link becomes the address that it leads to; any other attribute with a token is cut, and
 * in text the word that holds one. The last step looks at the whole once more, as a browser may see
 * tags where this reader sees none.
 */

import { type Attribute, type OpeningTag, scanTags } from '#lib/html/attributes.ts';
import { unescapeAttribute } from '#lib/html/links.ts';
import { tokenPrefix } from '../links/token.ts';

/** Where a counted link leads; undefined for any other address. */
export type TargetOf = (url: string) => string | undefined;

/** HTML without its tokens, and without attributes that say where its links open. */
export function htmlWithoutMarks(html: string, messageId: string, targetOf: TargetOf): string {
  const prefix = tokenPrefix(messageId);
  let kept = '';
  let at = 0;
  for (const tag of scanTags(html, { hasLiquid: false })) {
    for (const attribute of tag.attributes) {
      const change = changeOf(attribute, prefix, targetOf);
      if (!change) continue;
      const start = change.isCut ? nameStart(html, tag, attribute) : attribute.start;
      const end = change.isCut ? attribute.end + attribute.quote.length : attribute.end;
      if (start < at) continue;
      kept += html.slice(at, start) + change.value;
      at = end;
    }
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

type Change = { isCut: boolean; value: string };

function changeOf(
  { name, value, quote }: Attribute,
  prefix: string,
  targetOf: TargetOf,
): Change | undefined {
  if (name === 'target') return { isCut: true, value: '' };
  if (!value.includes(prefix)) return undefined;
  const target = name === 'href' ? targetOf(unescapeAttribute(value)) : undefined;
  if (target === undefined || target.includes(prefix)) return { isCut: true, value: '' };
  const escaped = target.replace(/[&"'<>]/g, (character) => `&#${character.charCodeAt(0)};`);
  return { isCut: false, value: quote === '' ? `"${escaped}"` : escaped };
}

/** The name stands right before the value, but for the equals sign and spaces. */
function nameStart(html: string, { start }: OpeningTag, { name, start: valueStart }: Attribute) {
  const before = html.slice(start, valueStart).toLowerCase();
  return start + before.lastIndexOf(name);
}
