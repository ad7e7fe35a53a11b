import { domainToASCII } from 'node:url';
import validator from 'validator';
import { remember } from './cache.ts';

const { isFQDN } = validator;

const addressMaxBytes = 254;
const localMaxBytes = 64;
// RFC 5321 without quoted forms. Other characters need RFC 6531 on every server on the way, which
// few support.
const localPart = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i;
/** Characters that `domainToASCII` would treat as escapes, ports or paths. */
const notOfDomain = /[%:/?#[\]\\@\s]/;

/**
 * The one form an address is stored and compared in: trimmed, lower case, the domain in ASCII, so
 * that an international domain and its punycode are the same contact. Undefined if it is not an
 * address.
 */
export function canonicalAddress(text: string): string | undefined {
  const trimmed = text.trim();
  const at = trimmed.lastIndexOf('@');
  if (at < 1) return undefined;
  const local = trimmed.slice(0, at);
  const given = trimmed.slice(at + 1).toLowerCase();
  if (!localPart.test(local) || local.length > localMaxBytes) return undefined;
  const domain = canonicalDomain(given);
  if (!domain) return undefined;
  const address = `${local.toLowerCase()}@${domain}`;
  return address.length <= addressMaxBytes ? address : undefined;
}

/** Cached, since an import has few domains many times. */
const canonicalDomain = remember(2_000, (given): string | undefined => {
  if (notOfDomain.test(given)) return undefined;
  const domain = domainToASCII(given);
  return isFQDN(domain) ? domain : undefined;
});

/** The error for a text that is not an address. */
export function addressFault(text: string): string {
  return /[^\p{ASCII}].*@/su.test(text)
    ? 'invalid email format: only ASCII characters are supported before the @'
    : 'invalid email format';
}

/** The IANA names of three letters. */
const shortZones = new Set('CET EET EST GMT HST MET MST PRC ROC ROK UCT UTC WET'.split(' '));

/**
 * Whether a zone has the name in the IANA database. Intl knows abbreviations as well, which others
 * read otherwise: BST as the time of Bangladesh, IST as that of India.
 */
export function isTimeZone(name: string): boolean {
  if (/^SystemV\//i.test(name)) return false;
  return isKnownTimeZone(name) && (name.length !== 3 || shortZones.has(name.toUpperCase()));
}

/** Whether Intl knows a zone by a name: of stored ones, and of what callers give back of them. */
export function isKnownTimeZone(name: string): boolean {
  return /^[A-Za-z][A-Za-z0-9_+\-/]{0,49}$/.test(name) && canonicalTimeZone(name) !== undefined;
}

/**
 * The oldest name of a zone, which each PostgreSQL knows, however old its database of zones is;
 * undefined if Intl does not know it.
 */
export function canonicalTimeZone(name: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}
