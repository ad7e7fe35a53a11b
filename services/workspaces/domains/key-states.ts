import type { Domain, DomainKey, StoredFinding } from './domain.ts';
import { keyRecord } from './domain.ts';

const dayMs = 24 * 60 * 60_000;
/** Mail servers give up a mail after 5 days; receivers may look at the key until then. */
const retiredMs = 7 * dayMs;
/** Then the record with an empty `p=` has said it for long enough. */
const revokedMs = 30 * dayMs;

export type KeyTimes = { at: Date; seenForMs: number };

/**
 * Moves the keys of a domain on after a check, and returns those that are over. A key that does not
 * sign yet begins anew when a check does not find it at all servers.
 */
export function moveKeys(
  domain: Domain,
  keys: readonly DomainKey[],
  { at, seenForMs }: KeyTimes,
): DomainKey[] {
  for (const key of keys) {
    const isSeen = findingOf(domain, key)?.state === 'ok';
    if (key.state === 'waiting' && isSeen) enter(key, 'published', at);
    else if (key.state === 'published' && !isSeen) enter(key, 'waiting', at);
    if (key.state === 'published' && sinceMs(key, at) >= seenForMs) {
      replaceBy(key, keys, at);
    }
  }
  retireLeftOut(domain, keys, at);
  for (const key of keys) {
    if (key.state !== 'retired' || sinceMs(key, at) < retiredMs) continue;
    enter(key, 'revoked', at);
    key.sealed_private_key = null;
  }
  return keys.filter((key) => key.state === 'revoked' && sinceMs(key, at) >= revokedMs);
}

function replaceBy(key: DomainKey, keys: readonly DomainKey[], at: Date): void {
  for (const other of keys) {
    if (other.state === 'signing' && other.algorithm === key.algorithm) {
      enter(other, 'retired', at);
    }
  }
  enter(key, 'signing', at);
}

/** Keys of algorithms that were left out sign until another one does, if another is to sign. */
export function retireLeftOut(domain: Domain, keys: readonly DomainKey[], at: Date): void {
  const wanted = domain.dkim_algorithms;
  const signing = keys.filter(({ state }) => state === 'signing');
  if (wanted.length > 0 && !signing.some(({ algorithm }) => wanted.includes(algorithm))) return;
  for (const key of signing) {
    if (!wanted.includes(key.algorithm)) enter(key, 'retired', at);
  }
}

function enter(key: DomainKey, state: DomainKey['state'], at: Date): void {
  key.state = state;
  key.since = at;
}

const sinceMs = ({ since }: DomainKey, at: Date) => at.getTime() - since.getTime();

const findingOf = (domain: Domain, { selector }: DomainKey): StoredFinding | undefined =>
  domain.findings[keyRecord(selector)];

/** Whether verifiers read the key, as far as anybody has said. */
function isThere(domain: Domain, key: DomainKey): boolean {
  return findingOf(domain, key)?.known === 'ok';
}

/** Whether keys of the domain sign, and verifiers read none of them, nor a key of before. */
export function areKeysGone(domain: Domain, keys: readonly DomainKey[]): boolean {
  return keys.some(({ state }) => state === 'signing') && readableKeys(domain, keys).length === 0;
}

/**
 * The keys that sign now, at most one of each algorithm. A key that DNS has lost does not sign
 * while another one can, such as the one before it. If none can, the keys in use sign: a mail of
 * the domain is never unsigned, and waits once the domain is held.
 */
export function signingKeys(domain: Domain, keys: readonly DomainKey[]): DomainKey[] {
  const readable = readableKeys(domain, keys);
  return readable.length > 0 ? readable : keys.filter(({ state }) => state === 'signing');
}

function readableKeys(domain: Domain, keys: readonly DomainKey[]): DomainKey[] {
  const inUse = keys.filter(({ state }) => state === 'signing');
  const before = keys
    .filter(({ state }) => state === 'retired')
    .toSorted((a, b) => b.since.getTime() - a.since.getTime());
  return inUse.flatMap((key) => {
    const same = [key, ...before.filter(({ algorithm }) => algorithm === key.algorithm)];
    return same.find((each) => isThere(domain, each)) ?? [];
  });
}
