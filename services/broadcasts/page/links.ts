import { timingSafeEqual } from 'node:crypto';
import type { Keyring } from '#lib/keys/keyring.ts';
import type { BroadcastKey } from '../broadcast/broadcast.ts';

/** A valid link. */
export type PageLink = { workspaceId: string; expiresAt: Date };

/** The links to pages of broadcasts: whoever has one may see the numbers of its broadcast. */
export type PageLinks = {
  /** Absent where the address of the gateway is not known. */
  urlOf(key: BroadcastKey): string | undefined;
  /** Undefined for a token that is not ours, of another broadcast, or expired. */
  read(id: string, token: string): PageLink | undefined;
};

const purpose = 'postrider/broadcast-pages';
const timeBytes = 4;
const macBytes = 16;
const daySeconds = 86_400;
/** Rounded up to the end of a day, so that all links of a day are the same. */
const validDays = 30;

/** The token: when it expires, the workspace, and a MAC over both and the broadcast. */
export function createPageLinks({
  keyring,
  publicUrl,
  now,
}: {
  keyring: Keyring;
  publicUrl: string;
  now: () => Date;
}): PageLinks {
  const macs = keyring.macs(purpose);
  const [current] = macs;
  if (!current) throw new Error('SERVICE_KEYS has no key');
  const base = publicUrl.replace(/\/+$/, '');
  return {
    urlOf({ workspaceId, id }) {
      if (base === '') return undefined;
      const time = Buffer.alloc(timeBytes);
      time.writeUInt32BE(expiryOf(now()));
      const named = Buffer.concat([time, Buffer.from(workspaceId)]);
      const token = Buffer.concat([tagOf(current, id, named), named]).toString('base64url');
      return `${base}/broadcasts/${encodeURIComponent(id)}?token=${token}`;
    },
    read(id, token) {
      const bytes = Buffer.from(token, 'base64url');
      // Decoding is lenient, and one link should have one text.
      if (bytes.length <= macBytes + timeBytes || bytes.toString('base64url') !== token) {
        return undefined;
      }
      const named = bytes.subarray(macBytes);
      const tag = bytes.subarray(0, macBytes);
      if (!macs.some((mac) => timingSafeEqual(tag, tagOf(mac, id, named)))) return undefined;
      const expiresAt = new Date(named.readUInt32BE() * 1_000);
      if (expiresAt <= now()) return undefined;
      return { workspaceId: named.toString('utf8', timeBytes), expiresAt };
    },
  };
}

function expiryOf(now: Date): number {
  const today = Math.floor(now.getTime() / 1_000 / daySeconds);
  return (today + 1 + validDays) * daySeconds;
}

/** Ids have no zero byte. */
function tagOf(mac: (bytes: Buffer) => Buffer, id: string, named: Buffer): Buffer {
  return mac(Buffer.concat([Buffer.from(`${id}\0`), named])).subarray(0, macBytes);
}
