/*
 * The links of a mail: how they are numbered, and how each is written for one recipient.
 *
 * A link that the author wrote has a number, by which its clicks are counted. It is found again in
 * the HTML by its address, or by the output that writes a part of it. Links that only values bring
 * share one number.
 */
import { scanAttributes } from '../html/attributes.ts';
import { isWebUrl, linkTags, type Utm, unescapeAttribute, utmWriter } from '../html/links.ts';
import { linkSigner, signedUrlMax } from '../keys/signed-link.ts';
import { liquidSpans, mapLiquid } from '../liquid/spans.ts';
import { systemUrls } from '../liquid/variables.ts';
import { guardedAddress } from './urls.ts';

export interface LinkOptions {
  utm: Utm;
  /** URL prefixes of the pixel and of counted links; without it links are left as they are. */
  tracking?: { opens: string; clicks: string };
  /** Schemes of apps that addresses made from values may have, in lower case. */
  schemes?: readonly string[];
}

/** The options alone, of what else has them. */
export function linkOptionsOf({ utm, tracking, schemes }: LinkOptions): LinkOptions {
  return { utm, ...(tracking && { tracking }), ...(schemes && { schemes }) };
}

/** The numbers of a mail's links. */
export interface LinkNumbers {
  /** By address, as it is sent. */
  addresses: Readonly<Record<string, number>>;
  /** By an address that stands between Liquid, without UTM values. */
  choices: Readonly<Record<string, number>>;
  /** Of links with Liquid, by where their address stands in the source. */
  ranges: readonly { start: number; end: number; number: number }[];
  /** Of all links that only values bring. */
  other: number;
}

const mjmlLinkTags = new Set([...linkTags, 'mj-button', 'mj-image', 'mj-navbar-link']);
/** No real mail has more; the links after these share the number of the others. */
const maximumLinks = 2_000;
/** A link with Liquid is counted under the first characters of its address. */
const nameMax = 500;
/**
 * Counts what has no number of its own; in the form of an address with Liquid, which nobody is led
 * to.
 */
const otherLinks = '{{ url }}';
/** Addresses that act for the recipient, so nothing is counted or added. */
const systemLink = new RegExp(`^\\{\\{-?\\s*(?:${systemUrls.join('|')})\\s*(?:\\|[^}]*)?\\}\\}`);

/** Numbers the links of a source. `names` says by number where each leads. */
export function numberLinks(
  source: string,
  { utm, tracking }: LinkOptions,
): { names: string[]; numbers: LinkNumbers } {
  const names: string[] = [];
  const addresses: Record<string, number> = Object.create(null);
  const choices: Record<string, number> = Object.create(null);
  const ranges: { start: number; end: number; number: number }[] = [];
  const withUtm = utmWriter(utm, '&amp;');
  for (const { tag, name, value, start, end } of tracking ? scanAttributes(source) : []) {
    if (name !== 'href' || !mjmlLinkTags.has(tag) || names.length >= maximumLinks) continue;
    const url = value.trim();
    if (liquidSpans(url).length > 0) {
      if (!mayBeWeb(url)) continue;
      ranges.push({ start, end, number: names.length });
      for (const choice of choicesIn(url)) choices[choice] ??= names.length;
      names.push(unescapeAttribute(url).slice(0, nameMax));
    } else if (isWebUrl(url)) {
      const address = unescapeAttribute(withUtm(url));
      if (!isCountable(address)) continue;
      addresses[address] ??= names.length;
      names.push(address);
    }
  }
  const numbers = { addresses, choices, ranges, other: names.length };
  const mayHaveOthers = tracking && (liquidSpans(source).length > 0 || /<mj-social\b/.test(source));
  return { names: mayHaveOthers ? [...names, otherLinks] : names, numbers };
}

/** The addresses that stand as a whole between the tags of Liquid. */
function choicesIn(url: string): string[] {
  const choices: string[] = [];
  mapLiquid(url, {
    plain: (text) => {
      if (isWebUrl(text.trim())) choices.push(unescapeAttribute(text.trim()));
      return text;
    },
  });
  return choices;
}

/** Whether an address with Liquid may turn out to be one of the web. */
function mayBeWeb(url: string): boolean {
  return !systemLink.test(url) && (isWebUrl(url) || !/^([a-z][a-z0-9+.-]*:|#)/i.test(url));
}

/** Counts are kept by address, in an index that has no room for longer ones. */
export function isCountable(address: string): boolean {
  return Buffer.byteLength(address) <= signedUrlMax && URL.canParse(address);
}

/** The number of a link that values are part of, by the first of the outputs that wrote them. */
export function numberByOutput({ ranges, other }: LinkNumbers, begins: readonly number[]): number {
  return begins.reduce((least, begin) => Math.min(least, numberAt(ranges, begin) ?? other), other);
}

/** Ranges follow each other, and their numbers are below that of all others. */
function numberAt(ranges: LinkNumbers['ranges'], begin: number): number | undefined {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranges[middle]?.end ?? 0) <= begin) low = middle + 1;
    else high = middle;
  }
  const range = ranges[low];
  return range && range.start <= begin ? range.number : undefined;
}

export interface LinkWriting extends LinkOptions {
  /**
   * Signs the addresses that links lead to; without it, links that depend on the recipient are not
   * counted.
   */
  linkKey?: Uint8Array;
}

/** The recipient of the links. */
export type LinkRecipient = {
  /** Empty for a mail that is not tracked. */
  token: string;
  /** Addresses that act for the recipient. */
  systemUrls: readonly string[];
};

/** The values of Liquid that links need. */
export function linkRecipientOf(values: Readonly<Record<string, unknown>>): LinkRecipient {
  return {
    token: String(values.tracking_token ?? ''),
    systemUrls: systemUrls.map((name) => String(values[name] ?? '')),
  };
}

/** An address that is made for one recipient. */
export type RecipientLink = {
  /** As in the HTML, with the values. */
  rendered: string;
  /** The text before the first value. */
  start: string;
  attribute: string;
  /** Absent for addresses that no reader follows, such as those of pictures. */
  number?: number | undefined;
};

/** `url` is what the reader sees of it, `link` what is written. Neither is escaped. */
export type WrittenLink = { url: string; link: string };

export type WriteLink = (link: RecipientLink, recipient: LinkRecipient) => WrittenLink;

/** Makes the writer of links that depend on the recipient: guarded, with UTM values, signed. */
export function linkWriter({ utm, tracking, schemes, linkKey }: LinkWriting): WriteLink {
  const withUtm = utmWriter(utm, '&');
  const sign = tracking && linkKey ? linkSigner(linkKey) : undefined;
  return ({ rendered, start, attribute, number }, { token, systemUrls: own }) => {
    const url = guardedAddress(rendered, start, attribute, schemes);
    const isSystems = own.some((each) => each !== '' && url.startsWith(each));
    if (number === undefined || isSystems || !isWebUrl(url) || !URL.canParse(url)) {
      return { url, link: url };
    }
    const target = withUtm(url);
    if (!tracking || !sign || token === '' || Buffer.byteLength(target) > signedUrlMax) {
      return { url: target, link: target };
    }
    const signed = sign({ token, number, url: target });
    return { url: target, link: `${tracking.clicks}${token}/${number}/${signed}` };
  };
}
