import { canonicalAddress } from '#lib/address.ts';
import type { ReportClass } from '../classes.ts';
import type { ReportType } from '../report.ts';

/** The meaning of a mail for one recipient. */
export type MailStatement = {
  /** Undefined for what changes nothing. */
  type: ReportType | undefined;
  class: ReportClass | undefined;
  /** All names that it has for the recipient, in canonical form; none where it names nobody. */
  recipients: readonly string[];
  /** The word of the report for it, such as `failed`. */
  category: string;
  /** The server's words. */
  words: string;
  /** The kind of complaint. */
  complaintType: string;
};

export const saysNothing: MailStatement = {
  ...{ type: undefined, class: undefined, recipients: [] },
  ...{ category: '', words: '', complaintType: '' },
};

/** The addresses in a field such as `rfc822; <ann@example.com>`, at most ten. */
export function addressesIn(field: string): string[] {
  const texts = field.slice(0, 4_000).match(/[^\s<>;,"()[\]]{1,64}@[^\s<>;,"()[\]]{1,255}/g) ?? [];
  const unescaped = texts.flatMap((text) => [text, withoutXtext(text)]);
  const addresses = unescaped.map((text) => canonicalAddress(text.replace(/[.:]$/, '')));
  return [...new Set(addresses.filter((address) => address !== undefined))].slice(0, 10);
}

/** Some servers leave `+2B` of the address that they were given as it is (RFC 3461, 4). */
function withoutXtext(text: string): string {
  return text.replace(/\+([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16)));
}
