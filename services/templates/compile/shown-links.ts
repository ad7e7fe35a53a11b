import { replaceAttributes, scanAttributes } from '#lib/html/attributes.ts';
import { isWebUrl, linkTags, type Utm, unescapeAttribute, utmWriter } from '#lib/html/links.ts';
import { signedUrlMax } from '#lib/keys/signed-link.ts';
import { systemUrls } from '#lib/liquid/variables.ts';

/** A link as a preview lists it. */
export type ShownLink = { url: string; text: string; tracked: boolean };

export type LinkSetting = {
  utm: Utm;
  /** Schemes of apps that links made from values may have. */
  schemes?: readonly string[];
  isTracked: boolean;
  /** URL that tracked links begin with. */
  clicks: string;
  /** Addresses that act for the recipient, which are left alone. */
  systemUrls: readonly string[];
};

const linksMax = 200;
/** Many may be the same. */
const readMax = 2_000;
const textMax = 200;
/**
 * As long as a mail's own: a token of 43 characters, a number, and a MAC where the address depends
 * on the recipient.
 */
const trackedBytes = 47;
/** The pixel's tag without its address. */
const pixelBytes = 70;

/** HTML with UTM values on its web links. */
export function withUtmLinks(html: string, setting: LinkSetting): string {
  const withUtm = utmWriter(setting.utm, '&amp;');
  return replaceAttributes(html, ({ tag, name, value }) => {
    if (name !== 'href' || !linkTags.has(tag) || !isWeb(value, setting)) return undefined;
    return withUtm(value.trim());
  });
}

export function shownLinks(html: string, setting: LinkSetting): ShownLink[] {
  const links = new Map<string, ShownLink>();
  const found = scanAttributes(html).filter(
    ({ tag, name }) => name === 'href' && (tag === 'a' || tag === 'area'),
  );
  for (const { value, end } of found.slice(0, readMax)) {
    const url = unescapeAttribute(value.trim());
    const link = { url, text: textBehind(html, end), tracked: isCounted(value, setting) };
    const key = `${url} ${link.text}`;
    if (!links.has(key)) links.set(key, link);
    if (links.size >= linksMax) break;
  }
  return [...links.values()];
}

/** About the bytes of HTML as it is sent. */
export function sentBytes(html: string, setting: LinkSetting): number {
  const own = Buffer.byteLength(html);
  if (!setting.isTracked) return own;
  const added = scanAttributes(html)
    .filter(
      ({ tag, name, value }) => name === 'href' && linkTags.has(tag) && isCounted(value, setting),
    )
    .map(({ value }) => setting.clicks.length + trackedBytes - Buffer.byteLength(value));
  return added.reduce((sum, bytes) => sum + bytes, own + setting.clicks.length + pixelBytes + 43);
}

function isCounted(value: string, setting: LinkSetting): boolean {
  return (
    setting.isTracked &&
    isWeb(value, setting) &&
    Buffer.byteLength(unescapeAttribute(value)) <= signedUrlMax
  );
}

/** Liquid that is kept may be a web address, unless it names one of the system's. */
function isWeb(value: string, { systemUrls: own }: LinkSetting): boolean {
  const url = unescapeAttribute(value.trim());
  if (own.some((each) => each !== '' && url.startsWith(each))) return false;
  if (isWebUrl(url)) return true;
  return /^\{[{%]/.test(url) && !systemUrls.some((name) => url.includes(name));
}

/** The text between a link's tag and its end, without tags. */
function textBehind(html: string, from: number): string {
  const behind = html.slice(from, from + 1_000);
  const inner = behind.slice(behind.indexOf('>') + 1);
  const close = inner.search(/<\/a/i);
  const content = close < 0 ? '' : inner.slice(0, close);
  const [, alt = ''] = /<img\b[^>]*?\salt="([^"]*)"/i.exec(content) ?? [];
  const text = content
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return unescapeAttribute(text || alt).slice(0, textMax);
}
