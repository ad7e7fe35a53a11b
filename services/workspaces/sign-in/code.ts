import { createHash, randomInt, timingSafeEqual } from 'node:crypto';
import type { Keyring } from '#lib/keys/keyring.ts';
import { deleteExpired } from '#lib/postgres/expired.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';

export const codeMinutes = 10;
/** Jobs that send codes belong to no workspace and no row. */
export const codeJobPlace = { workspaceId: '', row: '', column: 'sign-in code' };
/** Of a code, from the network that asked for it. */
const triesMax = 5;
/** Of a code, from all other networks together: a person may ask over IPv6 and answer over IPv4. */
const otherTriesMax = 3;
const digits = 6;

export type CodeAnswer = { email: string; code: string; network: string };

/**
 * Makes a code for an address and the network that asks for it, in place of the last one of both,
 * and returns it; only a hash is stored. Requests and tries from other networks leave it as it is.
 */
export async function newCode(
  em: EntityManager,
  keyring: Keyring,
  { now, ...asked }: Omit<CodeAnswer, 'code'> & { now: Date },
): Promise<string> {
  const code = String(randomInt(10 ** digits)).padStart(digits, '0');
  const [hash] = hashesOf(keyring, { ...asked, code });
  await deleteExpired(em, 'mailed_codes', now);
  await query(
    em,
    `insert into mailed_codes (email, network, hash, expires_at) values ($1, $2, $3, $4)
     on conflict (email, network) do update set hash = excluded.hash, expires_at = excluded.expires_at,
       tries = 0, other_tries = 0`,
    [asked.email, hashOfNetwork(asked), hash, new Date(now.getTime() + codeMinutes * 60_000)],
  );
  return code;
}

/**
 * Whether the code is right: one of the address, whichever network asked for it. Every try is
 * counted and committed before the comparison, one after the other, so that concurrent tries are as
 * many as others. A right code is used up.
 */
export async function useCode(
  em: EntityManager,
  keyring: Keyring,
  { answer, now }: { answer: CodeAnswer; now: Date },
): Promise<boolean> {
  const hashes = hashesOf(keyring, answer);
  // Locked in one order, so that two tries never wait for each other.
  const rows = await query<{ hash: Buffer }>(
    em,
    `update mailed_codes codes set tries = tries + is_own::int, other_tries = other_tries + (not is_own)::int
     from (
       select email, network, network = $2 as is_own from mailed_codes
       where email = $1 and expires_at > $3
       order by network for update
     ) open
     where codes.email = open.email and codes.network = open.network
       and case when is_own then tries < ${triesMax} else other_tries < ${otherTriesMax} end
     returning codes.hash`,
    [answer.email, hashOfNetwork(answer), now],
  );
  const right = rows.find((row) => hashes.filter((hash) => timingSafeEqual(hash, row.hash)).length);
  if (!right) return false;
  const used = await query(
    em,
    'delete from mailed_codes where email = $1 and hash = $2 returning 1',
    [answer.email, right.hash],
  );
  return used.length > 0;
}

/** With the address, since a network alone has few values. */
function hashOfNetwork({ email, network }: Omit<CodeAnswer, 'code'>): Buffer {
  return createHash('sha256').update(`${email} ${network}`).digest();
}

/** By each key, that of the current one first. */
function hashesOf(keyring: Keyring, { email, code }: CodeAnswer): Buffer[] {
  const text = Buffer.from(`${email} ${code}`);
  return keyring.macs('postrider/sign-in-codes').map((mac) => mac(text));
}
