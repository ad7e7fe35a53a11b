import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Log } from '../log.ts';
import { type Box, createBox } from './box.ts';
import { createMac, type Mac } from './mac.ts';

/** The identity in a token. */
export type Claims = {
  type: 'user' | 'api_key' | 'service';
  /** User id, or the name of the service. */
  subject: string;
  /** Only for users. */
  sessionId: string;
};

/**
 * Everything that is derived from SECRET_KEY. The variable may list several keys: the first signs
 * and encrypts, all verify and decrypt, so that a key can be replaced without signing anyone out.
 */
export type Keyring = {
  readonly secrets: readonly string[];
  signToken(claims: Claims, ttlSeconds: number): Promise<string>;
  /** The claims of a valid token; undefined for any other. */
  verifyToken(token: string): Promise<Claims | undefined>;
  encrypt(text: string): string;
  decrypt(text: string): string;
  /** Seals what one workspace stores, with a key of its own for one purpose. */
  box(purpose: string, workspaceId: string): Box;
  /** The MACs for one purpose, that of the current key first. */
  macs(purpose: string): readonly Mac[];
};

const keySizeBytes = 32;
const tokenLengthMax = 4096;
const verifiedMax = 2_000;
const boxesMax = 2_000;
/** How far the clocks of two machines may be apart. */
const toleranceSeconds = 60;
const clockWarningEveryMs = 60_000;

/** Tokens whose times show that clocks disagree are written to `log`. */
export function createKeyring(
  secretKey: string,
  { log }: { log?: Pick<Log, 'warn'> } = {},
): Keyring {
  const secrets = secretKey.split(',').filter((secret) => secret !== '');
  if (secrets.length === 0) throw new Error('SECRET_KEY is empty');
  checkSecrets(secrets);
  const derive = (purpose: string) => secrets.map((secret) => deriveKey(secret, purpose));
  const tokenKeys = derive('postrider/tokens');
  const boxKeys = derive('postrider/credentials');
  return {
    secrets,
    signToken: (claims, ttlSeconds) => signToken(tokenKeys[0]!, claims, ttlSeconds),
    verifyToken: createVerifier(tokenKeys, clockWatch(log)),
    encrypt: (text) => encrypt(boxKeys[0]!, text),
    decrypt: (text) => decrypt(boxKeys, text),
    box: createBoxes(derive),
    macs: createMacs(derive),
  };
}

/** The first key signs and seals; shorter old ones may follow, to verify and open older data. */
function checkSecrets([first = '', ...others]: readonly string[]): void {
  if (others.some((secret) => secret.length < 16)) {
    throw new Error('every key of SECRET_KEY must be at least 16 characters');
  }
  if (first.length < 32) {
    throw new Error('SECRET_KEY must be at least 32 characters; a shorter key may follow a comma');
  }
  if (new Set(first).size === 1) {
    throw new Error('SECRET_KEY must not be one character over and over');
  }
}

/** Each purpose has its own key, derived from the secret. */
export function deriveKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, keySizeBytes));
}

/** Cached, since deriving a key costs many times as much as a MAC. There are few purposes. */
function createMacs(derive: (purpose: string) => Buffer[]): Keyring['macs'] {
  const known = new Map<string, Mac[]>();
  return (purpose) => {
    const macs = known.get(purpose) ?? derive(purpose).map(createMac);
    known.set(purpose, macs);
    return macs;
  };
}

/** Cached, since deriving a key costs as much as sealing some kilobytes. */
function createBoxes(derive: (purpose: string) => Buffer[]): Keyring['box'] {
  const known = new LRUCache<string, Box>({ max: boxesMax });
  return (purpose, workspaceId) => {
    const name = `${purpose}/${workspaceId}`;
    const box = known.get(name) ?? createBox(derive(`postrider/boxes/${name}`));
    known.set(name, box);
    return box;
  };
}

function signToken(key: Buffer, claims: Claims, ttlSeconds: number): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ type: claims.type, sid: claims.sessionId || undefined })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(claims.subject)
    .setIssuedAt(now)
    .setNotBefore(now)
    .setExpirationTime(now + ttlSeconds)
    .sign(key);
}

type Verified = { claims: Claims; expiresAtMs: number };

/** A valid signature stays valid until the token expires, so it is checked once. */
function createVerifier(keys: readonly Buffer[], watch: ClockWatch): Keyring['verifyToken'] {
  const verified = new LRUCache<string, Verified>({ max: verifiedMax });
  return async (token) => {
    if (token.length > tokenLengthMax) return undefined;
    const known = verified.get(token);
    if (known) return known.expiresAtMs > Date.now() ? known.claims : undefined;
    const fresh = await verifyWithAny(keys, token, watch);
    if (!fresh) return undefined;
    verified.set(token, fresh);
    return fresh.claims;
  };
}

async function verifyWithAny(
  keys: readonly Buffer[],
  token: string,
  watch: ClockWatch,
): Promise<Verified | undefined> {
  for (const key of keys) {
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms: ['HS256'],
        requiredClaims: ['exp', 'sub', 'type'],
        clockTolerance: toleranceSeconds,
      });
      if (aheadSeconds(payload) <= toleranceSeconds) return readClaims(payload);
      watch(payload);
    } catch (error) {
      // Times are checked after the signature, so the token is ours. Any other error may be due to another key.
      if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'nbf')
        watch(error.payload);
      if (error instanceof errors.JWTExpired && error.payload.type === 'service')
        watch(error.payload);
    }
  }
  return undefined;
}

/** How long after this moment a token was made, by its own clock. */
function aheadSeconds({ iat, nbf }: JWTPayload): number {
  return (iat ?? nbf ?? 0) - Math.floor(Date.now() / 1000);
}

type ClockWatch = (payload: JWTPayload) => void;

/**
 * Logs that clocks differ, at most once a minute, since half of all calls may fail because of it. Tokens of people
 * expire every day, but a service renews its own in time.
 */
function clockWatch(log: Pick<Log, 'warn'> | undefined): ClockWatch {
  let saidAtMs = Number.NEGATIVE_INFINITY;
  return (payload) => {
    if (performance.now() - saidAtMs < clockWarningEveryMs) return;
    saidAtMs = performance.now();
    log?.warn(
      { subject: payload.sub, aheadSeconds: aheadSeconds(payload) },
      'a token was refused by its times; the clocks of the machines must agree',
    );
  };
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

const ivSizeBytes = 12;
const tagSizeBytes = 16;

function encrypt(key: Buffer, text: string): string {
  const iv = randomBytes(ivSizeBytes);
  const cipher = createCipheriv('aes-256-gcm', key, iv);
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64');
}

function decrypt(keys: readonly Buffer[], text: string): string {
  const bytes = Buffer.from(text, 'base64');
  const iv = bytes.subarray(0, ivSizeBytes);
  const tag = bytes.subarray(ivSizeBytes, ivSizeBytes + tagSizeBytes);
  for (const key of keys) {
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, iv, {
        authTagLength: tagSizeBytes,
      }).setAuthTag(tag);
      const sealed = bytes.subarray(ivSizeBytes + tagSizeBytes);
      return Buffer.concat([decipher.update(sealed), decipher.final()]).toString('utf8');
    } catch {
      // Another key may have sealed it.
    }
  }
  throw new Error('a stored credential can not be decrypted with SECRET_KEY');
}

/** Compares in a time that does not depend on the position of a difference. */
export function equalInConstantTime(a: string, b: string): boolean {
  const digest = (text: string) => createHmac('sha256', 'compare').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
