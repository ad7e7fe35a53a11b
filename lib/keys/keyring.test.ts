import { expect, test } from '@jest/globals';
import { type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { until } from '../../test/stack/until.ts';
import { type Claims, createKeyring, deriveKey, equalInConstantTime } from './keyring.ts';

const oldKey = 'the-key-of-last-year-which-is-long';
const newKey = 'the-key-of-this-year-which-is-long';
const keyring = createKeyring(oldKey);
const rotated = createKeyring(`${newKey},${oldKey}`);

const user: Claims = { type: 'user', subject: 'u1', sessionId: 's1' };
const nowSeconds = () => Math.floor(Date.now() / 1000);

/** A payload that is accepted; each test breaks one thing about it. */
const good = (): JWTPayload => ({ type: 'user', sub: 'u1', sid: 's1', exp: nowSeconds() + 60 });

function signed(payload: JWTPayload, { alg = 'HS256', secret = oldKey } = {}): Promise<string> {
  const key = deriveKey(secret, 'postrider/tokens');
  return new SignJWT(payload).setProtectedHeader({ alg }).sign(key);
}

test('a token yields the claims that it was signed with', async () => {
  for (const claims of [
    user,
    { type: 'api_key', subject: 'k1', sessionId: '' },
    { type: 'service', subject: 'messages', sessionId: '' },
  ] satisfies Claims[]) {
    expect(await keyring.verifyToken(await keyring.signToken(claims, 60))).toEqual(claims);
  }
});

test('a payload signed with the key is accepted, whatever library made the token', async () => {
  expect(await keyring.verifyToken(await signed(good()))).toEqual(user);
});

const without = (name: string): JWTPayload => ({ ...good(), [name]: undefined });

test.each<[string, () => Promise<string> | string]>([
  ['is not signed', () => new UnsecuredJWT(good()).encode()],
  ['is signed with another key', () => signed(good(), { secret: newKey })],
  ['is signed with another algorithm', () => signed(good(), { alg: 'HS512' })],
  ['has expired', () => signed({ ...good(), exp: nowSeconds() - 61 })],
  ['is not valid yet', () => signed({ ...good(), nbf: nowSeconds() + 65 })],
  ['was made in the future', () => signed({ ...good(), iat: nowSeconds() + 65 })],
  ['never expires', () => signed(without('exp'))],
  ['names nobody', () => signed(without('sub'))],
  ['has no type', () => signed(without('type'))],
  ['has a type we do not know', () => signed({ ...good(), type: 'admin' })],
  ['is a user without a session', () => signed(without('sid'))],
  ['is no token', () => 'Bearer'],
  ['is empty', () => ''],
  ['is huge', () => signed({ ...good(), padding: 'x'.repeat(4_096) })],
])('a token that %s is refused', async (_, make) => {
  expect(await keyring.verifyToken(await make())).toBeUndefined();
});

test('a token whose claims were changed is refused', async () => {
  const [header, , signature] = (await signed(good())).split('.');
  const claims = Buffer.from(JSON.stringify({ ...good(), sub: 'root' })).toString('base64url');
  expect(await keyring.verifyToken(`${header}.${claims}.${signature}`)).toBeUndefined();
});

/** A token signed by a process whose clock is ahead by so many seconds, or behind if negative. */
function signedAhead(seconds: number, type = 'service', secret = oldKey): Promise<string> {
  const at = nowSeconds() + seconds;
  return signed({ ...good(), type, iat: at, nbf: at, exp: at + 300 }, { secret });
}

test.each([30, 55, -30, -355])(
  'a token of a process whose clock is %i s ahead is good',
  async (seconds) => {
    expect(await keyring.verifyToken(await signedAhead(seconds))).toMatchObject({
      type: 'service',
    });
  },
);

test('a clock that is further off is logged at most once a minute, and nothing else is logged', async () => {
  const seen: unknown[][] = [];
  const warn = (...line: unknown[]) => void seen.push(line);
  const watching = createKeyring(`${newKey},${oldKey}`, { log: { warn } });
  const fine = [
    await signedAhead(55),
    await signed({ ...good(), exp: nowSeconds() - 600 }),
    await signedAhead(600, 'service', 'the-key-of-somebody-else'),
    'nonsense',
  ];
  for (const token of fine) await watching.verifyToken(token);
  expect(seen).toEqual([]);
  for (const seconds of [600, 601, -900]) {
    expect(await watching.verifyToken(await signedAhead(seconds))).toBeUndefined();
  }
  expect(seen).toEqual([
    [{ subject: 'u1', aheadSeconds: expect.any(Number) }, expect.stringMatching(/clock/)],
  ]);
  const [[line]] = seen as [[{ aheadSeconds: number }]];
  expect(Math.abs(line.aheadSeconds - 600)).toBeLessThan(3);
});

test('a service token that expired long ago is logged as a clock that is behind', async () => {
  const seen: unknown[] = [];
  const watching = createKeyring(oldKey, {
    log: { warn: (line: unknown) => void seen.push(line) },
  });
  await watching.verifyToken(await signedAhead(-900));
  expect(seen).toHaveLength(1);
});

test('a token that was verified before still expires', async () => {
  const token = await signed({ ...good(), exp: nowSeconds() - 59 });
  expect(await keyring.verifyToken(token)).toEqual(user);
  await until('it is refused', async () => !(await keyring.verifyToken(token)), {
    withinMs: 3_000,
  });
});

test('after a rotation new tokens use the new key, and old ones are still valid', async () => {
  expect(await rotated.verifyToken(await keyring.signToken(user, 60))).toEqual(user);
  const fresh = await rotated.signToken(user, 60);
  expect(await createKeyring(newKey).verifyToken(fresh)).toEqual(user);
  expect(await keyring.verifyToken(fresh)).toBeUndefined();
});

test('after a rotation old seals open, and new seals need the new key', () => {
  expect(rotated.decrypt(keyring.encrypt('pass-word'))).toBe('pass-word');
  const sealed = rotated.encrypt('pass-word');
  expect(createKeyring(newKey).decrypt(sealed)).toBe('pass-word');
  expect(() => keyring.decrypt(sealed)).toThrow('a stored credential can not be decrypted');
});

test('a text is sealed differently each time, and opens unchanged', () => {
  for (const text of ['', 'pass-word', 'пароль 🔑', 'x'.repeat(10_000)]) {
    expect(keyring.decrypt(keyring.encrypt(text))).toBe(text);
    expect(keyring.encrypt(text)).not.toBe(keyring.encrypt(text));
  }
});

test.each([0, 12, 28])('a seal whose byte %i was changed does not open', (position) => {
  const bytes = Buffer.from(keyring.encrypt('pass-word'), 'base64');
  bytes[position] = (bytes[position] ?? 0) ^ 1;
  expect(() => keyring.decrypt(bytes.toString('base64'))).toThrow('can not be decrypted');
});

test('a seal that was cut short does not open', () => {
  const short = Buffer.from(keyring.encrypt('pass-word'), 'base64').subarray(0, 20);
  expect(() => keyring.decrypt(short.toString('base64'))).toThrow('can not be decrypted');
});

test('MACs of different purposes differ', () => {
  const tags = ['a', 'b'].flatMap((purpose) =>
    rotated.macs(purpose).map((mac) => mac(Buffer.from('same')).toString('hex')),
  );
  expect(new Set(tags).size).toBe(4);
});

test.each([
  ['', 'SECRET_KEY is empty'],
  [',', 'SECRET_KEY is empty'],
  ['short', 'at least 32 characters'],
  [`${newKey},short`, 'at least 16 characters'],
  ['k'.repeat(31), 'at least 32 characters'],
  ['k'.repeat(64), 'one character over and over'],
])('the key list %p is refused', (keys, reason) => {
  expect(() => createKeyring(keys)).toThrow(reason);
});

test('a shorter old key behind a new one still opens its seals', async () => {
  const short = createKeyring(`${newKey},a-key-of-before-16`);
  const token = await signed(good(), { secret: 'a-key-of-before-16' });
  expect(await short.verifyToken(token)).toEqual(user);
});

test.each([
  ['same', 'same', true],
  ['same', 'Same', false],
  ['same', 'same ', false],
  ['', '', true],
])('comparing %p and %p gives %p', (a, b, equal) => {
  expect(equalInConstantTime(a, b)).toBe(equal);
});
