import { timingSafeEqual } from 'node:crypto';
import type { Keyring } from './keyring.ts';
import { createMac, type Mac } from './mac.ts';

const purpose = 'postrider/link-targets';
// Long, since a forged link would lead anywhere.
const macBytes = 16;

/**
 * Longer addresses are not tracked: a tracked one is a third longer, and old mail programs cut at 2
 * KB.
 */
export const signedUrlMax = 2_000;

/** A link of one message, and where it leads. */
export type SignedLink = {
  /** The message's tracking token. */
  token: string;
  /** The link's number in the template. */
  number: number;
  url: string;
};

/** The key for the links of a workspace. */
export function linkKeys(keyring: Keyring): (workspaceId: string) => Uint8Array {
  const [mac] = keyring.macs(purpose);
  if (!mac) throw new Error('SERVICE_KEYS has no key');
  return (workspaceId) => mac(Buffer.from(workspaceId));
}

/**
 * Makes the last part of a link whose address depends on the recipient: the MAC, then the address.
 */
export function linkSigner(key: Uint8Array): (link: SignedLink) => string {
  const mac = createMac(Buffer.from(key));
  return (link) => Buffer.concat([tagOf(mac, link), Buffer.from(link.url)]).toString('base64url');
}

/** Reads the address of links that are ours; undefined for any other text. */
export function createLinkReader(keyring: Keyring) {
  const macs = keyring.macs(purpose);
  return (
    workspaceId: string,
    { token, number, signed }: Omit<SignedLink, 'url'> & { signed: string },
  ): string | undefined => {
    const bytes = Buffer.from(signed, 'base64url');
    if (bytes.length <= macBytes) return undefined;
    const url = bytes.toString('utf8', macBytes);
    const isOurs = macs.some((mac) => {
      const tag = tagOf(createMac(mac(Buffer.from(workspaceId))), { token, number, url });
      return timingSafeEqual(bytes.subarray(0, macBytes), tag);
    });
    return isOurs ? url : undefined;
  };
}

/** Tokens have one length, and numbers no slash. */
function tagOf(mac: Mac, { token, number, url }: SignedLink): Buffer {
  return mac(Buffer.from(`${token}/${number}/${url}`)).subarray(0, macBytes);
}
