import { timingSafeEqual } from 'node:crypto';
import type { Keyring } from '#lib/keys/keyring.ts';

/** A domain of a workspace, in a valid link. */
export type SetupLink = { workspaceId: string; name: string; expiresAt: Date };

/** The links to pages that show the records of a domain to people without an account. */
export type SetupLinks = {
  urlOf(of: { workspaceId: string; name: string }): string;
  /** Undefined for a token that is not ours, or expired. */
  read(token: string): SetupLink | undefined;
};

const purpose = 'domain-pages';
const timeBytes = 4;
const macBytes = 16;
const daySeconds = 86_400;
/** Rounded up to the end of a day, so that all links of a day are the same. */
const validDays = 30;

/** The token: a MAC, when the link expires, the workspace and the domain. */
export function createSetupLinks({
  keyring,
  publicUrl,
  now,
}: {
  keyring: Keyring;
  publicUrl: string;
  now: () => Date;
}): SetupLinks {
  const { macs } = keyring.ownKeys(purpose);
  const [current] = macs;
  if (!current) throw new Error('SERVICE_KEYS has no key');
  const base = publicUrl.replace(/\/+$/, '');
  return {
    urlOf({ workspaceId, name }) {
      const time = Buffer.alloc(timeBytes);
      time.writeUInt32BE(expiryOf(now()));
      const named = Buffer.concat([time, Buffer.from(`${workspaceId}\0${name}`)]);
      const token = Buffer.concat([current(named).subarray(0, macBytes), named]);
      return `${base}/domains/${token.toString('base64url')}`;
    },
    read(token) {
      const bytes = Buffer.from(token, 'base64url');
      // Decoding is lenient, and one link should have one text.
      if (bytes.length <= macBytes + timeBytes || bytes.toString('base64url') !== token) {
        return undefined;
      }
      const [tag, named] = [bytes.subarray(0, macBytes), bytes.subarray(macBytes)];
      if (!macs.some((mac) => timingSafeEqual(tag, mac(named).subarray(0, macBytes)))) {
        return undefined;
      }
      const expiresAt = new Date(named.readUInt32BE() * 1_000);
      const [workspaceId = '', name = ''] = named.toString('utf8', timeBytes).split('\0');
      return expiresAt > now() ? { workspaceId, name, expiresAt } : undefined;
    },
  };
}

function expiryOf(now: Date): number {
  const today = Math.floor(now.getTime() / 1_000 / daySeconds);
  return (today + 1 + validDays) * daySeconds;
}
