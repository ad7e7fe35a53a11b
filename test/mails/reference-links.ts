import { escapeHtml } from '#lib/liquid/escape.ts';
import { systemUrls, utm } from './mailing.ts';
import type { PlainEmitter } from './reference-emitter.ts';
import { type HtmlAttribute, type HtmlToken, tokensOf } from './tokens.ts';

/** The rules of links, on HTML as a browser reads it. */

const addresses = new Set([
  'href',
  'src',
  'action',
  'formaction',
  'background',
  'poster',
  'data',
  'xlink:href',
]);
/** Attributes of MJML from which it makes addresses. */
const sources = new Set(['thumbnails-src', 'left-icon', 'right-icon']);
const linkTags = new Set(['a', 'area', 'v:roundrect', 'v:rect']);
/** Schemes of the web, of mail, phones and messages, and of a mail's own pictures. */
const harmless = new Set(['http', 'https', 'mailto', 'tel', 'sms', 'cid']);

/**
 * Web links without white space around them, and with the UTM values if they have none; those that
 * act for the recipient stay as they are.
 */
export function utmLinks(html: string): string {
  return withAddresses(html, ({ name: tag }, { name, value }) => {
    const url = value.trim();
    if (name !== 'href' || !linkTags.has(tag) || !/^https?:\/\//i.test(url)) return undefined;
    if (systemUrls.some((own) => url.startsWith(own))) return undefined;
    if (!URL.canParse(url) || /[?&;]utm_/i.test(url)) return url;
    const [, address = '', fragment = ''] = /^([^#]*)(.*)$/s.exec(url) ?? [];
    const joint = !address.includes('?') ? '?' : /[?&;]$/.test(address) ? '' : '&';
    return `${address}${joint}utm_source=${utm.source}${fragment}`;
  });
}

/** Addresses and schemes that the author wrote. */
type Authors = Pick<PlainEmitter, 'owns' | 'schemes'>;

/**
 * An address leads to `#` if a value gave it a scheme that is not harmless, or if it is one value
 * that is no address. It has no white space, whoever wrote it.
 */
export function guardedLinks(html: string, by: Authors): string {
  return guarded(html, by, (name) => addresses.has(name));
}

/** The same for attributes of MJML from which it makes several addresses. */
export function guardedSources(mjml: string, by: Authors): string {
  return guarded(mjml, by, isSource);
}

const isSource = (name: string) => name.endsWith('-url') || sources.has(name);

function guarded(
  html: string,
  { owns, schemes }: Authors,
  isMeant: (name: string) => boolean,
): string {
  return withAddresses(html, ({ name: tag }, { name, value }) => {
    if (name === 'srcset' && isMeant('src')) {
      return value.replace(
        /(^|,)(\s*)([a-z][a-z\d+.-]*):[^\s,]*/gi,
        (found, comma, space, scheme) =>
          /^(https?|cid)$/i.test(scheme) || found.includes('data:image/')
            ? found
            : `${comma}${space}#`,
      );
    }
    if (!isMeant(name)) return undefined;
    const address = value
      .trim()
      .replace(/[\s\0]+/g, '%20')
      .replaceAll('\u200b', '%E2%80%8B');
    if (address === '') return name === 'href' && linkTags.has(tag) ? '#' : address;
    const [, scheme] = /^([a-z][a-z\d+.-]*):/i.exec(address) ?? [];
    if (/^(javascript|vbscript|data:text\/html)/i.test(address)) return '#';
    if (scheme === undefined) {
      return /^[/?#.]/.test(address) || owns.has(value.trim()) ? address : '#';
    }
    const isHarmless = harmless.has(scheme.toLowerCase()) && (name !== 'href' || scheme !== 'cid');
    const isPicture = name !== 'href' && /^data:image\//i.test(address);
    return isHarmless || isPicture || schemes.has(scheme.toLowerCase()) ? address : '#';
  });
}

type Change = (tag: HtmlToken, attribute: HtmlAttribute) => string | undefined;

/**
 * HTML with the values of some attributes changed, also in comments that Outlook reads, and in what
 * a style swallows that a value leaves open.
 */
function withAddresses(html: string, change: Change): string {
  let changed = '';
  let at = 0;
  const replace = (start: number, end: number, text: string) => {
    changed += html.slice(at, start) + text;
    at = end;
  };
  for (const token of tokensOf(html)) {
    if (token.kind === 'comment') {
      const { start, end } = token;
      const [, open = '', inner] = /^(<!--\[if[^\]]*\]>)(.*)$/s.exec(html.slice(start, end)) ?? [];
      if (inner !== undefined) replace(start, end, open + withAddresses(inner, change));
    }
    if (token.kind === 'text' && token.inside !== '') {
      const { start, end } = token;
      replace(start, end, withAddresses(html.slice(start, end), change));
    }
    for (const each of token.attributes.toSorted((a, b) => a.start - b.start)) {
      const value = each.start < 0 ? undefined : change(token, each);
      if (value !== undefined) replace(each.start, each.end, escapeHtml(value));
    }
  }
  return changed + html.slice(at);
}
