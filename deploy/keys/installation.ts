import { randomBytes } from 'node:crypto';
import { deriveKey } from '#lib/keys/derive.ts';
import { type KeyPair, newKeyPair } from '#lib/keys/key-pair.ts';
import type { Keyset } from '#lib/keys/keyset.ts';
import { boxOwners, macOwners, services } from '#lib/keys/owners.ts';
import { oldCredentialKeys, readSecretKey } from '#lib/keys/secret-key.ts';

/**
 * Every key of an installation but SECRET_KEY. Operators keep it where no process reads it, and
 * give each process its keyset. In every list the first key is in use.
 */
export type Installation = {
  identities: Record<string, KeyPair[]>;
  issuer: KeyPair[];
  /** Public keys of issuers that sign no more. API keys that they have signed stay valid. */
  retired: string[];
  letters: KeyPair[];
  boxes: Record<string, string[]>;
  macs: Record<string, string[]>;
  before?: { credentials: string[] };
  /**
   * Names of lists whose last key is known to all processes with this keyset, and not in use yet.
   */
  added: string[];
};

/** Services that stored credentials before. Workspaces derives the key from its SECRET_KEY. */
const storedCredentials = ['messages', 'broadcasts', 'webhooks'];

/**
 * From the SECRET_KEY of an older installation, links stay as they are, and what was stored opens.
 */
export function newInstallation(secretKey?: string): Installation {
  const secrets = secretKey === undefined ? undefined : readSecretKey(secretKey);
  const macs = Object.keys(macOwners).map((purpose) => [
    purpose,
    secrets?.map((secret) => text(deriveKey(secret, purpose))) ?? [newKey()],
  ]);
  return {
    identities: Object.fromEntries(services.map((name) => [name, [newKeyPair('Ed25519')]])),
    issuer: [newKeyPair('Ed25519')],
    retired: [],
    letters: [newKeyPair('X25519')],
    boxes: Object.fromEntries(Object.keys(boxOwners).map((name) => [name, [newKey()]])),
    macs: Object.fromEntries(macs),
    ...(secrets ? { before: { credentials: oldCredentialKeys(secrets).map(text) } } : {}),
    added: [],
  };
}

/** The keyset of each service, and of the gateway. */
export function keysetsOf(installation: Installation): Record<string, Keyset> {
  return Object.fromEntries(services.map((name) => [name, keysetOf(installation, name)]));
}

function keysetOf(all: Installation, service: string): Keyset {
  const publicKeys = (pairs: readonly KeyPair[]) => pairs.map(({ x }) => x);
  const has = <T>(lists: Record<string, T>, isOwner: (name: string) => boolean) =>
    Object.fromEntries(Object.entries(lists).filter(([name]) => isOwner(name)));
  const others = Object.entries(all.identities).map(([name, pairs]) => [name, publicKeys(pairs)]);
  const { before } = all;
  return {
    service,
    identity: all.identities[service] ?? [],
    services: Object.fromEntries(others),
    people: [...publicKeys(all.issuer), ...all.retired],
    ...(service === 'workspaces' ? { issuer: all.issuer } : {}),
    macs: has(all.macs, (purpose) => macOwners[purpose]?.includes(service) ?? false),
    boxes: has(all.boxes, (name) => boxOwners[name] === service),
    letters: all.letters[0]?.x ?? '',
    ...(service === 'messages' ? { letterOpeners: all.letters } : {}),
    ...(before && storedCredentials.includes(service) ? { before } : {}),
  };
}

export type KeyedPart = {
  /** Only the keys that a leak of this service's environment gives away. */
  only?: string | undefined;
  /** Keys of links as well. */
  links?: boolean | undefined;
  /** Dropping ends the tokens that older issuers have signed: of API keys, and of people. */
  tokens?: boolean | undefined;
};

/** The first step of a rotation: every process learns the new keys, and none uses them. */
export function addKeys(all: Installation, part: KeyedPart): Installation {
  if (all.added.length > 0) throw new Error('new keys were added before; use them first');
  const next = structuredClone(all);
  const lists = listsOf(next, part);
  for (const { keys, make } of lists) keys.push(make());
  return { ...next, added: lists.map(({ name }) => name) };
}

/** The second step: new keys sign and seal. */
export function useKeys(all: Installation): Installation {
  if (all.added.length === 0) throw new Error('no keys were added');
  const next = structuredClone(all);
  for (const { name, keys } of listsOf(next, { links: true })) {
    const last = all.added.includes(name) && keys.pop();
    if (last) keys.unshift(last);
  }
  return { ...next, added: [] };
}

/**
 * The last step, once everything that is stored is sealed by the new keys. Links of sent mails end
 * with the keys of links, and tokens of API keys with those of tokens: only where they are named.
 */
export function dropKeys(all: Installation, part: KeyedPart): Installation {
  if (all.added.length > 0) throw new Error('new keys were added, but are not in use yet');
  const { before, ...next } = structuredClone(all);
  const older = next.issuer.slice(1).map(({ x }) => x);
  for (const { keys } of listsOf(next, part)) keys.splice(1);
  next.retired = part.tokens
    ? []
    : [...next.retired, ...older.filter((x) => next.issuer.every((pair) => pair.x !== x))];
  // The old key of credentials is that of several services.
  return before && part.only !== undefined ? { ...next, before } : next;
}

type List = { name: string; keys: unknown[]; make: () => unknown };

function listsOf(all: Installation, { only, links = false }: KeyedPart): List[] {
  if (only !== undefined && !all.identities[only]) throw new Error(`no service is called ${only}`);
  const isIn = (owner: string) => only === undefined || owner === only;
  const pair = () => newKeyPair('Ed25519');
  const named = (kind: string, keys: unknown[], make: () => unknown, isMeant: boolean) =>
    isMeant ? [{ name: kind, keys, make }] : [];
  return [
    ...Object.entries(all.identities).flatMap(([name, keys]) =>
      named(`identity ${name}`, keys, pair, isIn(name)),
    ),
    ...named('issuer', all.issuer, pair, isIn('workspaces')),
    ...named('letters', all.letters, () => newKeyPair('X25519'), isIn('messages')),
    ...Object.entries(all.boxes).flatMap(([name, keys]) =>
      named(`box ${name}`, keys, newKey, isIn(boxOwners[name] ?? '')),
    ),
    ...Object.entries(all.macs).flatMap(([name, keys]) =>
      named(`links ${name}`, keys, newKey, links && (macOwners[name] ?? []).some(isIn)),
    ),
  ];
}

const text = (key: Buffer) => key.toString('base64url');
const newKey = () => text(randomBytes(32));
