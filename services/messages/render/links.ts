import { parseLiquid } from '#lib/liquid/parse.ts';
import { mapLiquid } from '#lib/liquid/spans.ts';
import { type Attribute, scanAttributes } from './scan.ts';

/** Query values by key (`source`, `medium`, `campaign`, `term`, `content`). */
export type Utm = Readonly<Record<string, string>>;

export interface LinkOptions {
  utm: Utm;
  /** URL prefixes of the pixel and of counted links; without it links are left as they are. */
  tracking?: { opens: string; clicks: string };
}

export interface LinkedHtml {
  html: string;
  /** Where each counted link leads, by its number. */
  links: string[];
}

/** Rendered once per message; counted links and the pixel have it in the middle of a static address. */
export const trackingToken = '{{ tracking_token | raw }}';

const urlAttributes = new Set([
  'href',
  'src',
  'action',
  'formaction',
  'background',
  'poster',
  'srcset',
  'xlink:href',
]);
const utmKeys = ['source', 'medium', 'campaign', 'term', 'content'];
const linkTags = new Set(['a', 'area', 'v:roundrect', 'v:rect']);
/** A parse error of liquidjs takes 0.2 ms; after this many failed addresses, no other is parsed as a whole. */
const refusedMax = 100;
/** No real mail has more; the links after these are not counted. */
const maximumLinks = 2_000;

/** Guards the values in all addresses of HTML or MJML, and quotes attributes that Liquid could break out of. */
export function guardUrls(source: string): string {
  const guarded = newGuard();
  return replaceAttributes(source, ({ name, value, quote }) => {
    if (!/\{[{%]/.test(value)) return undefined;
    if (urlAttributes.has(name) || name.endsWith('-url')) return guarded(value);
    return quote === '' ? value : undefined;
  });
}

/** Adds the UTM values to static web links, and replaces those that are counted. */
export function layLinks(html: string, options: LinkOptions): LinkedHtml {
  const links: string[] = [];
  const linked = replaceAttributes(html, ({ tag, name, value }) => {
    const url = value.trim();
    if (name !== 'href' || !linkTags.has(tag) || !/^https?:\/\//i.test(url) || /\{[{%]/.test(url))
      return undefined;
    const target = withUtm(url, options.utm);
    if (options.tracking === undefined || links.length >= maximumLinks) return target;
    links.push(unescapeAttribute(target));
    return `${options.tracking.clicks}${trackingToken}/${links.length - 1}`;
  });
  return {
    html: options.tracking === undefined ? linked : withPixel(linked, options.tracking.opens),
    links,
  };
}

function replaceAttributes(
  source: string,
  replace: (attribute: Attribute) => string | undefined,
): string {
  let result = '';
  let at = 0;
  for (const attribute of scanAttributes(source)) {
    const value = replace(attribute);
    if (value === undefined) continue;
    result += source.slice(at, attribute.start) + (attribute.quote === '' ? `"${value}"` : value);
    at = attribute.end;
  }
  return result + source.slice(at);
}

/**
 * A static start that names a harmless scheme keeps its address; otherwise what is rendered decides. Liquid that
 * does not stand on its own in the attribute is guarded output by output.
 */
function newGuard(): (value: string) => string {
  let refused = 0;
  return (value) => {
    if (/^\s*(https?:\/\/|mailto:|tel:|sms:|cid:|#)/i.test(value)) return value;
    const wrapped = `{% safeurl %}${value}{% endsafeurl %}`;
    if (refused < refusedMax && parses(wrapped)) return wrapped;
    refused += 1;
    return mapLiquid(value, {
      liquid: (liquid) =>
        liquid.startsWith('{{') ? `{% safeurl %}${liquid}{% endsafeurl %}` : liquid,
    });
  };
}

function parses(source: string): boolean {
  try {
    parseLiquid(source, 'html');
    return true;
  } catch {
    return false;
  }
}

/** Adds the values unless the address has some of its own; the rest of it stays as the author wrote it. */
function withUtm(url: string, utm: Utm): string {
  const pairs = utmKeys
    .filter((key) => utm[key])
    .map((key) => `utm_${key}=${encodeURIComponent(utm[key] ?? '')}`);
  if (pairs.length === 0 || /[?&;]utm_/i.test(url) || !URL.canParse(unescapeAttribute(url)))
    return url;
  const [address = '', fragment] = splitOnce(url, '#');
  const joint = !address.includes('?') ? '?' : /[?&]$/.test(address) ? '' : '&amp;';
  return `${address}${joint}${pairs.join('&amp;')}${fragment === undefined ? '' : `#${fragment}`}`;
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  // `&#38;` is an ampersand, not the start of a fragment.
  const match = new RegExp(`(?<!&)${separator}`).exec(text);
  return match === null
    ? [text, undefined]
    : [text.slice(0, match.index), text.slice(match.index + 1)];
}

function unescapeAttribute(value: string): string {
  return value
    .replace(/&(amp|#38|#x26);/gi, '&')
    .replace(/&quot;/gi, '"')
    .replace(/&#39;/g, "'");
}

function withPixel(html: string, opens: string): string {
  const pixel = `<img src="${opens}${trackingToken}" width="1" height="1" alt="" style="display:block">`;
  const end = html.toLowerCase().lastIndexOf('</body>');
  return end < 0 ? html + pixel : html.slice(0, end) + pixel + html.slice(end);
}
