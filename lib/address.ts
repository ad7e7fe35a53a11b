import { domainToASCII } from 'node:url';

const addressLengthMax = 254;
const localLengthMax = 64;
const localPart = /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const domainName = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;

/**
 * The one form an address is stored and compared in: trimmed, lower case, the domain in ASCII, so
 * that an international domain and its punycode are the same contact. Undefined if it is no address.
 */
export function canonicalAddress(text: string): string | undefined {
  const trimmed = text.trim().toLowerCase();
  const at = trimmed.lastIndexOf('@');
  if (at < 1) return undefined;
  const local = trimmed.slice(0, at).normalize('NFC');
  const domain = domainToASCII(trimmed.slice(at + 1));
  if (Buffer.byteLength(local) > localLengthMax || !localPart.test(local)) return undefined;
  if (!domainName.test(domain)) return undefined;
  const address = `${local}@${domain}`;
  return Buffer.byteLength(address) <= addressLengthMax ? address : undefined;
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
