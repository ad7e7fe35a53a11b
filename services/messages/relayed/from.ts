import { domainToASCII, domainToUnicode } from 'node:url';

/** A name of atoms, quoted strings and encoded words. */
const phrase = '(?:"(?:[^"\\\\]|\\\\.)*"|[^"<>@,;:()\\\\])*';
const address = '[^\\s<>@"(),;:\\\\]+@[^\\s<>@"(),;:\\\\]+';
const named = new RegExp(`^(${phrase})<(${address})>$`, 's');
/** With a name behind it, as programs for system mail write it. */
const plain = new RegExp(`^(${address})(?:\\s+\\(([^()<>@\\\\]*)\\))?$`);
const lengthMax = 2_000;

/**
 * The one mailbox of a field. Stricter than RFC 5322, since a reader of another opinion must not
 * find another address. Undefined where it has none, several, or one in a rare form.
 */
export function mailboxIn(value: string): { email: string; name: string } | undefined {
  if (value.length > lengthMax) return undefined;
  const [, name, email] = named.exec(value) ?? [];
  if (email !== undefined && isOneDomain(email)) return { email, name: unquoted(name ?? '') };
  const [, bare, comment] = plain.exec(value) ?? [];
  if (bare === undefined || !isOneDomain(bare)) return undefined;
  return { email: bare, name: comment ?? '' };
}

/**
 * Whether all readers find the same domain: wide letters and characters that are left out are
 * mapped by some alone.
 */
function isOneDomain(email: string): boolean {
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase();
  return /^[\x21-\x7e]*$/.test(domain) || domainToUnicode(domainToASCII(domain)) === domain;
}

function unquoted(name: string): string {
  const text = name.trim();
  const [, quoted] = /^"(.*)"$/s.exec(text) ?? [];
  return quoted === undefined ? text : quoted.replace(/\\(.)/gs, '$1');
}
