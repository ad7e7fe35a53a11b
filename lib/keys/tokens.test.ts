import type { KeyObject } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import {
  addKeys,
  dropKeys,
  keysetsOf,
  newInstallation,
  useKeys,
} from '../../deploy/keys/installation.ts';
import { until } from '../../test/stack/until.ts';
import { deriveKey } from './derive.ts';
import { newKeyPair, privateKeyOf } from './key-pair.ts';
import { type Claims, createKeyring, equalInConstantTime, type Keyring } from './keyring.ts';

const installation = newInstallation();
const keyringsOf = (all = installation, options = {}): Record<string, Keyring> =>
  Object.fromEntries(
    Object.entries(keysetsOf(all)).map(([name, keyset]) => [name, createKeyring(keyset, options)]),
  );
const { workspaces, messages, gateway } = keyringsOf() as Record<
  'workspaces' | 'messages' | 'gateway',
  Keyring
>;
const user: Claims = { type: 'user', subject: 'u1', sessionId: 's1' };
const service: Claims = { type: 'service', subject: 'messages', sessionId: '' };
const nowSeconds = () => Math.floor(Date.now() / 1000);

/** A payload that is accepted; each test breaks one thing about it. */
const good = (): JWTPayload => ({
  ...{ type: 'user', sub: 'u1', sid: 's1', exp: nowSeconds() + 60 },
  ...{ iss: 'workspaces', aud: 'postrider/api' },
});
const ofService = (): JWTPayload => ({
  ...{ type: 'service', sub: 'messages', exp: nowSeconds() + 60 },
  ...{ iss: 'messages', aud: 'postrider/services' },
});

const [issuer] = installation.issuer;
const [own] = installation.identities.messages ?? [];
if (!issuer || !own) throw new Error('no keys');

function signed(payload: JWTPayload, pair = issuer ?? own, name = pair): Promise<string> {
  if (!pair || !name) throw new Error('no key');
  return signedWith(payload, privateKeyOf('Ed25519', pair), { kid: name.x.slice(0, 11) });
}

function signedWith(payload: JWTPayload, key: KeyObject | Buffer, header: object): Promise<string> {
  return new SignJWT(payload).setProtectedHeader({ alg: 'EdDSA', ...header }).sign(key);
}

test('everybody verifies what workspaces signs for people, and what a service signs for itself', async () => {
  const key: Claims = { type: 'api_key', subject: 'k1', sessionId: '' };
  for (const claims of [user, key]) {
    const token = await workspaces.signToken(claims, 60);
    for (const each of Object.values(keyringsOf())) {
      expect(await each.verifyToken(token)).toEqual(claims);
      expect(await each.verifyServiceToken(token)).toBeUndefined();
    }
  }
  const token = await messages.signToken(service, 60);
  for (const each of Object.values(keyringsOf())) {
    expect(await each.verifyServiceToken(token)).toEqual(service);
  }
});

test('nobody but workspaces signs for people, and nobody signs for another service', async () => {
  for (const [name, keyring] of Object.entries(keyringsOf())) {
    if (name !== 'workspaces') expect(() => keyring.signToken(user, 60)).toThrow('has no key');
    if (name !== 'messages') expect(() => keyring.signToken(service, 60)).toThrow('only messages');
  }
});

const without = (name: string): JWTPayload => ({ ...good(), [name]: undefined });
const other = newKeyPair('Ed25519');

test('the payload that the others break is accepted', async () => {
  expect(await gateway.verifyToken(await signed(good()))).toEqual(user);
  expect(await gateway.verifyToken(await signed(ofService(), own))).toEqual(service);
});

test.each<[string, () => Promise<string> | string]>([
  ['is not signed', () => new UnsecuredJWT(good()).encode()],
  ['is signed with another key', () => signed(good(), other)],
  ['is signed with another key under the name of a good one', () => signed(good(), other, issuer)],
  ['names no key', () => signedWith(good(), privateKeyOf('Ed25519', issuer), {})],
  [
    'is an HMAC by the public key',
    () =>
      signedWith(good(), Buffer.from(issuer.x, 'base64url'), {
        alg: 'HS256',
        kid: issuer.x.slice(0, 11),
      }),
  ],
  [
    'is an HMAC by the key of before',
    () => signedWith(good(), deriveKey('any', 'postrider/tokens'), { alg: 'HS256' }),
  ],
  ['has expired', () => signed({ ...good(), exp: nowSeconds() - 61 })],
  ['is not valid yet', () => signed({ ...good(), nbf: nowSeconds() + 65 })],
  ['was made in the future', () => signed({ ...good(), iat: nowSeconds() + 65 })],
  ['never expires', () => signed(without('exp'))],
  ['names nobody', () => signed(without('sub'))],
  ['has no type', () => signed(without('type'))],
  ['has no issuer', () => signed(without('iss'))],
  ['has another issuer', () => signed({ ...good(), iss: 'messages' })],
  ['is for nobody', () => signed(without('aud'))],
  ['is for services', () => signed({ ...good(), aud: 'postrider/services' })],
  ['has a type we do not know', () => signed({ ...good(), type: 'admin' })],
  ['is a user without a session', () => signed(without('sid'))],
  ['is of a service, signed as one of people', () => signed({ ...good(), type: 'service' })],
  ['is of a service, signed by the key of people', () => signed(ofService())],
  ['is of a person, signed by a service', () => signed(good(), own)],
  [
    'is of a person, signed by a service as its own',
    () => signed({ ...ofService(), type: 'user', sid: 's1' }, own),
  ],
  ['is of another service', () => signed({ ...ofService(), sub: 'workspaces' }, own)],
  ['is of another service by its issuer', () => signed({ ...ofService(), iss: 'workspaces' }, own)],
  ['is no token', () => 'Bearer'],
  ['is empty', () => ''],
  ['is huge', () => signed({ ...good(), padding: 'x'.repeat(4_096) })],
])('a token that %s is refused', async (_, make) => {
  expect(await gateway.verifyToken(await make())).toBeUndefined();
});

test('a token whose claims were changed is refused', async () => {
  const [header, , signature] = (await signed(good())).split('.');
  const claims = Buffer.from(JSON.stringify({ ...good(), sub: 'root' })).toString('base64url');
  expect(await gateway.verifyToken(`${header}.${claims}.${signature}`)).toBeUndefined();
});

/** A token signed by a process whose clock is ahead by `seconds`, or behind if negative. */
function signedAhead(seconds: number, pair = own): Promise<string> {
  const at = nowSeconds() + seconds;
  return signed({ ...ofService(), iat: at, nbf: at, exp: at + 300 }, pair);
}

test.each([30, 55, -30, -355])(
  'a token of a process whose clock is %i s ahead is good',
  async (seconds) => {
    expect(await gateway.verifyToken(await signedAhead(seconds))).toMatchObject(service);
  },
);

function watching() {
  const seen: unknown[][] = [];
  const log = { warn: (...line: unknown[]) => void seen.push(line) };
  const keyset = keysetsOf(installation).gateway;
  if (!keyset) throw new Error('no keys');
  return { seen, keyring: createKeyring(keyset, { log }) };
}

test('a clock that is further off is logged at most once a minute, and nothing else is logged', async () => {
  const { seen, keyring } = watching();
  const fine = [
    await signedAhead(55),
    await signed({ ...good(), exp: nowSeconds() - 600 }),
    await signedAhead(600, other),
    'nonsense',
  ];
  for (const token of fine) await keyring.verifyToken(token);
  expect(seen).toEqual([]);
  for (const seconds of [600, 601, -900]) {
    expect(await keyring.verifyToken(await signedAhead(seconds))).toBeUndefined();
  }
  expect(seen).toEqual([
    [{ subject: 'messages', aheadSeconds: expect.any(Number) }, expect.stringMatching(/clock/)],
  ]);
  const [[line]] = seen as [[{ aheadSeconds: number }]];
  expect(Math.abs(line.aheadSeconds - 600)).toBeLessThan(3);
});

test('a service token that expired long ago is logged as a clock that is behind', async () => {
  const { seen, keyring } = watching();
  await keyring.verifyToken(await signedAhead(-900));
  expect(seen).toHaveLength(1);
});

test('a token that was verified before still expires', async () => {
  const token = await signed({ ...good(), exp: nowSeconds() - 59 });
  expect(await gateway.verifyToken(token)).toEqual(user);
  await until('it is refused', async () => !(await gateway.verifyToken(token)), {
    withinMs: 3_000,
  });
});

test('while keys are replaced, processes with keysets of any two steps accept each other', async () => {
  const added = addKeys(installation, {});
  const used = useKeys(added);
  const dropped = dropKeys(used, {});
  const steps = [installation, added, used, dropped].map((all) => keyringsOf(all));
  for (const [step, keyrings] of steps.entries()) {
    const tokens = await Promise.all([
      keyrings.workspaces?.signToken(user, 60),
      keyrings.messages?.signToken(service, 60),
    ]);
    for (const near of steps.slice(Math.max(0, step - 1), step + 2)) {
      for (const token of tokens)
        expect(await near.gateway?.verifyToken(token ?? '')).toBeDefined();
    }
  }
  const old = await workspaces.signToken(user, 60);
  const ofService = await messages.signToken(service, 60);
  expect(await steps[3]?.gateway?.verifyToken(old)).toEqual(user);
  expect(await steps[3]?.gateway?.verifyToken(ofService)).toBeUndefined();
  const next = dropKeys(useKeys(addKeys(dropped, {})), {});
  expect(await keyringsOf(next).gateway?.verifyToken(old)).toEqual(user);
  const ended = dropKeys(used, { tokens: true });
  expect(await keyringsOf(ended).gateway?.verifyToken(old)).toBeUndefined();
});

test.each([
  ['same', 'same', true],
  ['same', 'Same', false],
  ['same', 'same ', false],
  ['', '', true],
])('comparing %p and %p gives %p', (a, b, equal) => {
  expect(equalInConstantTime(a, b)).toBe(equal);
});
