import { randomInt, timingSafeEqual } from 'node:crypto';
import type { Keyring } from '#lib/keys/keyring.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';

export const codeMinutes = 10;
/** Jobs that send codes belong to no workspace and no row. */
export const codeJobPlace = { workspaceId: '', row: '', column: 'sign-in code' };
const triesMax = 5;
const digits = 6;
const sweptMax = 500;

export type Answer = { email: string; code: string };

/** Makes the one code of an address and returns it; only a hash is stored. */
export async function newCode(
  em: EntityManager,
  keyring: Keyring,
  { email, now }: { email: string; now: Date },
): Promise<string> {
  const code = String(randomInt(10 ** digits)).padStart(digits, '0');
  const [hash] = hashesOf(keyring, { email, code });
  await query(
    em,
    `delete from sign_in_codes where email in (
       select email from sign_in_codes where expires_at <= $1 limit ${sweptMax} for update skip locked
     )`,
    [now],
  );
  await query(
    em,
    `insert into sign_in_codes (email, hash, expires_at) values ($1, $2, $3)
     on conflict (email) do update set hash = excluded.hash, expires_at = excluded.expires_at, tries = 0`,
    [email, hash, new Date(now.getTime() + codeMinutes * 60_000)],
  );
  return code;
}

/**
 * Whether the code is right. Every try is counted and committed before the comparison, one after the other, so that
 * concurrent tries are as many as others. A right code is used up.
 */
export async function useCode(
  em: EntityManager,
  keyring: Keyring,
  { answer, now }: { answer: Answer; now: Date },
): Promise<boolean> {
  const hashes = hashesOf(keyring, answer);
  const [row] = await query<{ hash: Buffer }>(
    em,
    `update sign_in_codes set tries = tries + 1
     where email = $1 and tries < ${triesMax} and expires_at > $2 returning hash`,
    [answer.email, now],
  );
  if (!row || hashes.filter((hash) => timingSafeEqual(hash, row.hash)).length === 0) return false;
  const used = await query(
    em,
    'delete from sign_in_codes where email = $1 and hash = $2 returning 1',
    [answer.email, row.hash],
  );
  return used.length > 0;
}

/** By each key, that of the current one first. */
function hashesOf(keyring: Keyring, { email, code }: Answer): Buffer[] {
  const text = Buffer.from(`${email} ${code}`);
  return keyring.macs('postrider/sign-in-codes').map((mac) => mac(text));
}
