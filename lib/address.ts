import { domainToASCII } from 'node:url';
import validator from 'validator';

const { isEmail } = validator;

const addressMaxBytes = 254;
const localMaxBytes = 64;
// Letters of any script with their marks, and what RFC 5321 allows without quotes; nothing invisible.
const localPart =
  /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
/** What a URL's host may hold beside a name: escapes, ports, paths. */
const notOfDomain = /[%:/?#[\]\\@\s]/;

/**
 * The one form an address is stored and compared in: trimmed, lower case, the domain in ASCII, so
 * that an international domain and its punycode are the same contact. Undefined if it is no address.
 */
export function canonicalAddress(text: string): string | undefined {
  const trimmed = text.trim().toLowerCase();
  const at = trimmed.lastIndexOf('@');
  if (at < 1) return undefined;
  const local = trimmed.slice(0, at).normalize('NFC');
  const given = trimmed.slice(at + 1);
  if (!localPart.test(local) || Buffer.byteLength(local) > localMaxBytes) return undefined;
  if (notOfDomain.test(given)) return undefined;
  const address = `${local}@${domainToASCII(given)}`;
  if (Buffer.byteLength(address) > addressMaxBytes) return undefined;
  return isEmail(address) ? address : undefined;
}

/** Whether a zone is one that Intl knows, by its IANA name. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]{0,49}$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
