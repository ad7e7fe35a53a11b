/*
 * Where addresses that are made from values may lead.
 *
 * The author's own part stays: a scheme of any app, a path. An address whose beginning is a value
 * leads to web pages, mail, phone and message addresses, or to a place in the mail, and never to a
 * script.
 */
import { unescapeAttribute } from '../html/links.ts';

/** Attributes that hold addresses. */
const addressAttributes = new Set([
  'href',
  'src',
  'action',
  'formaction',
  'background',
  'poster',
  'srcset',
  'xlink:href',
]);

export function isAddress(attribute: string): boolean {
  return addressAttributes.has(attribute) || attribute.endsWith('-url');
}

/** Takes the place of an address that may not be used. */
export const nowhere = '#';

/** An address of HTML that values are part of. `start` is what stands before the first value. */
export function guardedAddress(rendered: string, start: string, attribute: string): string {
  if (attribute === 'srcset') return guardedCandidates(unescapeAttribute(rendered));
  const address = withoutSpaces(unescapeAttribute(rendered));
  if (isAuthors(start)) return address;
  const isSafe =
    /^((https?|mailto|tel|sms):|[/?#.])/i.test(address) ||
    (attribute !== 'href' && /^(cid:|data:image\/)/i.test(address));
  return isSafe ? address : nowhere;
}

/** Pictures to choose from, each with its width or density. */
function guardedCandidates(candidates: string): string {
  return candidates.replace(
    /(^|,)(\s*)(?!https?:|cid:|data:image\/)[a-z][a-z0-9+.-]*:[^\s,]*/gi,
    `$1$2${nowhere}`,
  );
}

/** An address as programs read it. */
export function withoutSpaces(address: string): string {
  return address.trim().replace(/[\s\0]+/g, '%20');
}

/** Whether the author decides where an address leads, by a scheme or by the start of a path. */
export function isAuthors(start: string): boolean {
  const address = unescapeAttribute(start).replace(/[\s\0]+/g, '');
  if (/^(javascript|vbscript|data):/i.test(address)) return false;
  return /^([a-z][a-z0-9+.-]*:|[/?#.])/i.test(address);
}
