import { isWebUrl, unescapeAttribute, utmWriter } from '#lib/html/links.ts';
import { linkSigner, signedUrlMax } from '#lib/keys/signed-link.ts';
import type { SourcePlace } from '#lib/liquid/engine.ts';
import { escapeHtml } from '#lib/liquid/escape.ts';
import { safeUrl } from '#lib/liquid/safe-url.ts';
import type { WriteLink } from '#lib/liquid/tracked-link.ts';
import { systemUrls } from '#lib/liquid/variables.ts';
import type { LinkOptions } from './links.ts';

export interface LinkWriting extends LinkOptions {
  /**
   * Signs the addresses that links lead to; without it, links that depend on the recipient are not
   * counted.
   */
  linkKey?: Uint8Array;
}

/** A link of the message with the token. */
type WrittenLink = { token: string; url: string; link: string };

/**
 * Links that are kept as they were written last, by number: HTML and text of a message have the
 * same.
 */
const keptMax = 100;

/**
 * Makes the writers of links whose address is known only when a message is rendered: with UTM
 * values, and signed if counted.
 */
export function linkWriters(options: LinkWriting): (place: SourcePlace) => WriteLink {
  const { utm, tracking, linkKey } = options;
  const withUtm = utmWriter(utm, '&');
  const sign = tracking && linkKey ? linkSigner(linkKey) : undefined;
  const kept: WrittenLink[] = [];
  return (place) => (rendered, number, scope) => {
    const url = safeUrl(place === 'html' ? unescapeAttribute(rendered) : rendered);
    const token = textOf(scope, 'tracking_token');
    const last = kept[number];
    if (last?.token === token && last.url === url) return last.link;
    const isCountable = isWebUrl(url) && URL.canParse(url) && !isSystemUrl(url, scope);
    const target = isCountable ? withUtm(url) : url;
    if (!isCountable || !tracking || !sign || !token || Buffer.byteLength(target) > signedUrlMax) {
      return place === 'html' ? escapeHtml(target) : target;
    }
    const link = `${tracking.clicks}${token}/${number}/${sign({ token, number, url: target })}`;
    if (number < keptMax) kept[number] = { token, url, link };
    return link;
  };
}

function isSystemUrl(url: string, scope: object): boolean {
  return systemUrls.some((name) => {
    const own = textOf(scope, name);
    return own !== '' && url.startsWith(own);
  });
}

function textOf(scope: object, name: string): string {
  const value: unknown = Reflect.get(scope, name);
  return typeof value === 'string' ? value : '';
}
