import { replaceAttributes } from '#lib/html/attributes.ts';
import { isWebUrl, linkTags, type Utm, unescapeAttribute, utmWriter } from '#lib/html/links.ts';
import { signedUrlMax } from '#lib/keys/signed-link.ts';
import { parseLiquid } from '#lib/liquid/parse.ts';
import { mapLiquid } from '#lib/liquid/spans.ts';
import { systemUrls } from '#lib/liquid/variables.ts';

export interface LinkOptions {
  utm: Utm;
  /** URL prefixes of the pixel and of counted links; without it links are left as they are. */
  tracking?: { opens: string; clicks: string };
}

export interface LinkedHtml {
  html: string;
  /**
   * Where each counted link leads, by its number; with Liquid where that depends on the recipient.
   */
  links: string[];
}

/**
 * Rendered once per message; counted links and the pixel have it in the middle of a static address.
 */
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
const mjmlLinkTags = new Set([...linkTags, 'mj-button', 'mj-image', 'mj-navbar-link']);
/**
 * Addresses of a message's own pages. They act for the recipient, so nothing is counted or added.
 */
const systemLink = new RegExp(
  `^(?:\\{% safeurl %\\})?\\s*\\{\\{-?\\s*(?:${systemUrls.join('|')})\\s*(?:\\|[^}]*)?\\}\\}`,
);
/**
 * A parse error of liquidjs takes 0.2 ms; after this many failed addresses, no other is parsed as a
 * whole.
 */
const refusedMax = 100;
/** No real mail has more; the links after these are not counted. */
const maximumLinks = 2_000;
/** A link with Liquid is counted under the first characters of its address. */
const nameMax = 500;
/**
 * Counts what has no number of its own; in the form of an address with Liquid, which nobody is led
 * to.
 */
const otherLinks = '{{ url }}';

/**
 * Guards the values in all addresses of HTML or MJML, and quotes attributes that Liquid could break
 * out of.
 */
export function guardUrls(source: string): string {
  const parses = newParser();
  return replaceAttributes(source, ({ name, value, quote }) => {
    if (!/\{[{%]/.test(value)) return undefined;
    if (urlAttributes.has(name) || name.endsWith('-url')) return guarded(value, parses);
    return quote === '' ? value : undefined;
  });
}

/** Adds the UTM values to web links, and replaces those that are counted. */
export function rewriteLinks(html: string, options: LinkOptions): LinkedHtml {
  const { html: rewritten, links } = rewrite(html, linkTags, options);
  return {
    html: options.tracking
      ? withPixel(rewritten, options.tracking.opens, trackingToken)
      : rewritten,
    links,
  };
}

/**
 * The same for MJML that is compiled for each recipient; the last number counts links that only
 * Liquid makes.
 */
export function rewriteMjmlLinks(mjml: string, options: LinkOptions): LinkedHtml {
  const { html, links } = rewrite(mjml, mjmlLinkTags, options);
  return { html, links: options.tracking ? [...links, otherLinks] : [] };
}

/** Replaces the links that only rendering made. `write` writes one. */
export function rewriteRendered(
  html: string,
  { tracking }: LinkOptions,
  { token, write }: { token: string; write: (url: string) => string },
): string {
  const rewritten = replaceAttributes(html, ({ tag, name, value }) => {
    if (name !== 'href' || !linkTags.has(tag) || !isWebUrl(value.trim())) return undefined;
    return tracking && value.startsWith(tracking.clicks) ? undefined : write(value);
  });
  return tracking ? withPixel(rewritten, tracking.opens, token) : rewritten;
}

function rewrite(source: string, tags: ReadonlySet<string>, options: LinkOptions): LinkedHtml {
  const { tracking, utm } = options;
  const changes = tracking !== undefined || Object.values(utm).some((value) => value !== '');
  const links: string[] = [];
  const parses = newParser();
  const withUtm = utmWriter(utm, '&amp;');
  const html = replaceAttributes(source, ({ tag, name, value }) => {
    if (!changes || name !== 'href' || !tags.has(tag)) return undefined;
    const url = value.trim();
    const isFull = links.length >= maximumLinks;
    if (/\{[{%]/.test(url)) {
      const wrapped = isFull ? undefined : wrappedLink(url, links.length);
      if (wrapped === undefined || !parses(wrapped)) return undefined;
      links.push(nameOf(url));
      return wrapped;
    }
    if (!isWebUrl(url)) return undefined;
    const target = withUtm(url);
    const address = unescapeAttribute(target);
    if (!tracking || isFull || !isCountable(address)) return target;
    links.push(address);
    return `${tracking.clicks}${trackingToken}/${links.length - 1}`;
  });
  return { html, links: tracking ? links : [] };
}

/** Counts are kept by address, in an index that has no room for longer ones. */
function isCountable(address: string): boolean {
  return Buffer.byteLength(address) <= signedUrlMax && URL.canParse(address);
}

/** Undefined for addresses that are never of the web. */
function wrappedLink(value: string, number: number): string | undefined {
  if (systemLink.test(value)) return undefined;
  const [, inner] = /^\{% safeurl %\}(.*)\{% endsafeurl %\}$/s.exec(value) ?? [];
  if (inner === undefined && !isWebUrl(value)) return undefined;
  return `{% trackedlink ${number} %}${inner ?? value}{% endtrackedlink %}`;
}

function nameOf(value: string): string {
  const name = unescapeAttribute(value.replace(/\{% (?:end)?safeurl %\}/g, '')).trim();
  return name.slice(0, nameMax);
}

/**
 * A static start that names a harmless scheme keeps its address; otherwise what is rendered
 * decides. Liquid that does not stand on its own in the attribute is guarded output by output.
 */
function guarded(value: string, parses: (source: string) => boolean): string {
  if (/^\s*(https?:\/\/|mailto:|tel:|sms:|cid:|#)/i.test(value)) return value;
  const wrapped = `{% safeurl %}${value}{% endsafeurl %}`;
  if (parses(wrapped)) return wrapped;
  return mapLiquid(value, {
    liquid: (liquid) =>
      liquid.startsWith('{{') ? `{% safeurl %}${liquid}{% endsafeurl %}` : liquid,
  });
}

/** Whether a source stands on its own, for as many sources as there is time for. */
function newParser(): (source: string) => boolean {
  let refused = 0;
  return (source) => {
    if (refused >= refusedMax) return false;
    try {
      parseLiquid(source, 'html');
      return true;
    } catch {
      refused += 1;
      return false;
    }
  };
}

function withPixel(html: string, opens: string, token: string): string {
  const pixel = `<img src="${opens}${token}" width="1" height="1" alt="" style="display:block">`;
  const end = html.toLowerCase().lastIndexOf('</body>');
  return end < 0 ? html + pixel : html.slice(0, end) + pixel + html.slice(end);
}
