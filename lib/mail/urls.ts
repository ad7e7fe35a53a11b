/*
 * Guards addresses that are made from values.
 *
 * An address that the author wrote stays: a scheme of any app, a path. An address whose beginning
 * is a value leads to web pages, mail, phone and message addresses, to apps whose schemes the
 * workspace allows, or to a place in the mail. None leads to a script, whoever wrote it.
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
  'data',
]);

export function isAddress(attribute: string): boolean {
  return addressAttributes.has(attribute);
}

const computed = new Set(['thumbnails-src', 'left-icon', 'right-icon']);

/** Whether MJML makes addresses of an attribute, so that it has to be known before. */
export function isComputedAddress({ tag, name }: { tag: string; name: string }): boolean {
  return name.endsWith('-url') || computed.has(name) || (tag === 'mj-font' && name === 'href');
}

/** References that browsers know in the scheme of an address, besides those that addresses have. */
const unseen = /&(?:tab|newline);|&#(?:0*(?:9|10|13)(?!\d)|x0*[9ad](?![\da-f]));?/gi;
const colon = /&colon;|&#0*58(?!\d);?|&#x0*3a(?![\da-f]);?/gi;

/** Whether an address of HTML runs a script where it is followed, whoever wrote it. */
export function isScript(address: string): boolean {
  const read = unescapeAttribute(address.replace(unseen, '').replace(colon, ':'));
  // Browsers leave out white space and control characters.
  return /^(?:(?:java|vb)script:|data:text\/html)/i.test(read.replace(/[^!-~\u0080-\uffff]+/g, ''));
}

/** Takes the place of an address that may not be used. */
export const nowhere = '#';

/**
 * An address of HTML that values are part of. `start` is what stands before the first value,
 * `schemes` are those of apps that the workspace allows in links, in lower case.
 */
export function guardedAddress(
  rendered: string,
  start: string,
  attribute: string,
  schemes: readonly string[] = [],
): string {
  if (attribute === 'srcset') return guardedCandidates(unescapeAttribute(rendered));
  const address = withoutSpaces(unescapeAttribute(rendered));
  if (isAuthors(start)) return address;
  const isSafe =
    /^((https?|mailto|tel|sms):|[/?#.])/i.test(address) ||
    (attribute === 'href' ? isAllowed(address, schemes) : /^(cid:|data:image\/)/i.test(address));
  return isSafe ? address : nowhere;
}

function isAllowed(address: string, schemes: readonly string[]): boolean {
  const colonAt = schemes.length > 0 ? address.indexOf(':') : -1;
  return colonAt > 0 && schemes.includes(address.slice(0, colonAt).toLowerCase());
}

/** Pictures to choose from, each with its width or density. */
function guardedCandidates(candidates: string): string {
  return candidates.replace(
    /(^|,)([^!-~\u0080-\uffff]*)(?!https?:|cid:|data:image\/)[a-z][a-z0-9+.-]*:[^\s,]*/gi,
    `$1$2${nowhere}`,
  );
}

/** An address without values, or with none but white space and `true` or `false`. */
export function fixedAddress(address: string): string {
  const written = withoutSpaces(address);
  return isScript(address) || /^(true|false)$/.test(written) ? nowhere : written;
}

/** An address as programs read it. The conversion to text takes U+200B for a space. */
export function withoutSpaces(address: string): string {
  return address
    .trim()
    .replace(/[\s\0]+/g, '%20')
    .replaceAll('\u200b', '%E2%80%8B');
}

/** Whether the author decides where an address leads, by a scheme or by the start of a path. */
export function isAuthors(start: string): boolean {
  const address = unescapeAttribute(start).replace(/[\s\0]+/g, '');
  if (/^(javascript|vbscript|data):/i.test(address)) return false;
  return /^([a-z][a-z0-9+.-]*:|[/?#.])/i.test(address);
}
