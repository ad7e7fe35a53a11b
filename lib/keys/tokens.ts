import type { KeyObject } from 'node:crypto';
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { atMostEvery } from '../limits/at-most-every.ts';
import { type KeyPair, privateKeyOf, publicKeyOf } from './key-pair.ts';
import type { Keyset } from './keyset.ts';

/** The identity in a token. */
export type Claims = {
  type: 'user' | 'api_key' | 'service';
  /** User id, or the name of the service. */
  subject: string;
  /** Only for users. */
  sessionId: string;
};

/** A token whose signature is right, until it expires. */
export type Verified = { claims: Claims; expiresAtMs: number };

export const tokenLengthMax = 4096;
/** How far the clocks of two machines may be apart. */
const toleranceSeconds = 60;
const clockWarningEveryMs = 60_000;
const idLength = 11;

/** The service that signs tokens of users and API keys. */
const issuer = 'workspaces';
const audienceOf = (type: Claims['type']) =>
  type === 'service' ? 'postrider/services' : 'postrider/api';

type Signer = (claims: Claims, ttlSeconds: number) => Promise<string>;

/** Signs tokens that name their signer, `iss`, and say where they are valid, `aud`. */
export function tokenSigner({ service, identity, issuer: people }: Keyset): Signer {
  const [own, peoples] = [keyOf(identity), keyOf(people ?? [])];
  return (claims, ttlSeconds) => {
    const isOwn = claims.type === 'service';
    if (isOwn && claims.subject !== service) throw new Error(`only ${claims.subject} signs that`);
    const key = isOwn ? own : peoples;
    if (!key) throw new Error(`${service} has no key for such tokens`);
    const now = Math.floor(Date.now() / 1000);
    return new SignJWT({ type: claims.type, sid: claims.sessionId || undefined })
      .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid: key.id })
      .setIssuer(isOwn ? service : issuer)
      .setAudience(audienceOf(claims.type))
      .setSubject(claims.subject)
      .setIssuedAt(now)
      .setNotBefore(now)
      .setExpirationTime(now + ttlSeconds)
      .sign(key.key);
  };
}

function keyOf([first]: readonly KeyPair[]): { id: string; key: KeyObject } | undefined {
  return first && { id: first.x.slice(0, idLength), key: privateKeyOf('Ed25519', first) };
}

/** A public key, and whose tokens it verifies: those of one service, or of people. */
type Trusted = { key: KeyObject; service: string | undefined };

/** Verifies tokens by the public keys that every process has. Undefined for any other text. */
export function tokenVerifier(
  { services, people }: Pick<Keyset, 'services' | 'people'>,
  watch: ClockWatch,
): (token: string) => Promise<Verified | undefined> {
  const trusted = new Map<string, Trusted>();
  const trust = (service: string | undefined, keys: readonly string[]) => {
    for (const x of keys) {
      trusted.set(x.slice(0, idLength), { key: publicKeyOf('Ed25519', x), service });
    }
  };
  trust(undefined, people);
  for (const [service, keys] of Object.entries(services)) trust(service, keys);
  return async (token) => {
    const known = trusted.get(idIn(token));
    if (!known) return undefined;
    const { service } = known;
    const verified = await verifyWith(token, known.key, watch, {
      algorithms: ['EdDSA'],
      issuer: service ?? issuer,
      audience: audienceOf(service === undefined ? 'user' : 'service'),
      requiredClaims: ['exp', 'sub', 'type', 'iss', 'aud'],
      ...(service === undefined ? {} : { subject: service }),
    });
    // A key of people must not vouch for a service, nor that of a service for people.
    if ((verified?.claims.type === 'service') !== (service !== undefined)) return undefined;
    return verified;
  };
}

function idIn(token: string): string {
  const { kid } = partOf(token, 0);
  return typeof kid === 'string' ? kid : '';
}

/** The header (0) or the payload (1) of a token, not verified; empty for any other text. */
export function partOf(token: string, index: 0 | 1): Record<string, unknown> {
  const text = Buffer.from(token.split('.', 2)[index] ?? '', 'base64url').toString();
  try {
    const part: unknown = JSON.parse(text);
    return typeof part === 'object' && part !== null ? { ...part } : {};
  } catch {
    return {};
  }
}

/** Undefined for a token that another key has signed, or that is not valid now. */
export async function verifyWith(
  token: string,
  key: KeyObject | Uint8Array,
  watch: ClockWatch,
  rules: Parameters<typeof jwtVerify>[2],
): Promise<Verified | undefined> {
  try {
    const { payload } = await jwtVerify(token, key, {
      requiredClaims: ['exp', 'sub', 'type'],
      clockTolerance: toleranceSeconds,
      ...rules,
    });
    if (aheadSeconds(payload) <= toleranceSeconds) return readClaims(payload);
    watch(payload);
  } catch (error) {
    // Times are checked after the signature, so the token is ours. Any other error may be due to
    // another key.
    if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'nbf')
      watch(error.payload);
    if (error instanceof errors.JWTExpired && error.payload.type === 'service')
      watch(error.payload);
  }
  return undefined;
}

/** How long after this moment a token was made, by its own clock. */
function aheadSeconds({ iat, nbf }: JWTPayload): number {
  return (iat ?? nbf ?? 0) - Math.floor(Date.now() / 1000);
}

/** The part of a log that keys use. */
export type WarningLog = { warn(about: object, text: string): void };

export type ClockWatch = (payload: JWTPayload) => void;

/**
 * Logs that clocks differ, at most once a minute, since half of all calls may fail because of it.
 * Tokens of people expire every day, but a service renews its own in time.
 */
export function clockWatch(log: WarningLog | undefined): ClockWatch {
  return atMostEvery(clockWarningEveryMs, (payload) => {
    log?.warn(
      { subject: payload.sub, aheadSeconds: aheadSeconds(payload) },
      'a token was refused by its times; the clocks of the machines must agree',
    );
  });
}

function readClaims(payload: Record<string, unknown>): Verified | undefined {
  const { type, sub, sid, exp } = payload;
  if (type !== 'user' && type !== 'api_key' && type !== 'service') return undefined;
  if (typeof sub !== 'string' || typeof exp !== 'number') return undefined;
  if (type === 'user' && typeof sid !== 'string') return undefined;
  const sessionId = typeof sid === 'string' ? sid : '';
  return {
    claims: { type, subject: sub, sessionId },
    expiresAtMs: (exp + toleranceSeconds) * 1000,
  };
}
