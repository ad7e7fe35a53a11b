import { timingSafeEqual } from 'node:crypto';
import { invalidField } from '#lib/errors/errors.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import type { Mac } from '#lib/keys/mac.ts';
import type { Domain } from './domain.ts';

/** A domain of a workspace, in a valid link. */
export type SetupLink = { workspaceId: string; name: string; id: string; expiresAt: Date };

/** The links to pages that show the records of a domain to people without an account. */
export type SetupLinks = {
  urlOf(domain: Pick<Domain, 'workspace_id' | 'name' | 'id'>): string;
  /** Throws for a token that is not ours, or expired. */
  read(token: string): SetupLink;
};

const purpose = 'domain-pages';
const timeBytes = 4;
const macBytes = 16;
const daySeconds = 86_400;
/** Rounded up to the end of a day, so that all links of a day are the same. */
const validDays = 30;

/**
 * The token: a MAC, when the link expires, the workspace and the domain, with its id: a later
 * domain of the same name has another.
 */
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
    urlOf({ workspace_id, name, id }) {
      const time = Buffer.alloc(timeBytes);
      time.writeUInt32BE(expiryOf(now()));
      const named = Buffer.concat([time, Buffer.from(`${workspace_id}\0${name}\0${id}`)]);
      const token = Buffer.concat([current(named).subarray(0, macBytes), named]);
      return `${base}/domains/${token.toString('base64url')}`;
    },
    read(token) {
      const link = linkIn(macs, token);
      if (link && link.expiresAt > now()) return link;
      throw invalidField('token', 'the link is not valid, or has expired');
    },
  };
}

/** Undefined for a token that is not ours. */
function linkIn(macs: readonly Mac[], token: string): SetupLink | undefined {
  const bytes = Buffer.from(token, 'base64url');
  // Decoding is lenient, and one link should have one text.
  if (bytes.length <= macBytes + timeBytes || bytes.toString('base64url') !== token) {
    return undefined;
  }
  const [tag, named] = [bytes.subarray(0, macBytes), bytes.subarray(macBytes)];
  if (!macs.some((mac) => timingSafeEqual(tag, mac(named).subarray(0, macBytes)))) {
    return undefined;
  }
  const [workspaceId = '', name = '', id = ''] = named.toString('utf8', timeBytes).split('\0');
  return { workspaceId, name, id, expiresAt: new Date(named.readUInt32BE() * 1_000) };
}

function expiryOf(now: Date): number {
  const today = Math.floor(now.getTime() / 1_000 / daySeconds);
  return (today + 1 + validDays) * daySeconds;
}
