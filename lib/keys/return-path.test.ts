import { expect, test } from '@jest/globals';
import { keysetsOf, newInstallation } from '../../deploy/keys/installation.ts';
import { createKeyring } from './keyring.ts';
import { createReturnPaths, mayBeReturnPath } from './return-path.ts';

const domain = 'bounces.example.com';
const messageId = '0f8fad5b-d9cb-469f-a165-70867728950e';
const keyringOf = () => {
  const keyset = keysetsOf(newInstallation()).messages;
  if (!keyset) throw new Error('no keys');
  return createKeyring(keyset);
};
const paths = createReturnPaths(keyringOf(), domain);

const ids = ['demo', 'Demo', 'dEMO', 'w1', '1', 'x', 'X', 'Z'.repeat(20), 'aB3'.repeat(6)];

test.each(ids)(
  'the return path of a mail of the workspace %p is read back, in any case',
  (workspaceId) => {
    const mail = { workspaceId, messageId };
    const address = paths.of(mail);
    expect(address).toMatch(/^b-[a-z2-7]{39}@[a-z0-9-]{1,63}\.bounces\.example\.com$/);
    expect(paths.read(address)).toEqual(mail);
    expect(paths.read(address.toUpperCase())).toEqual(mail);
    expect(mayBeReturnPath(address, domain)).toBe(true);
  },
);

test('no two workspaces have the same host, and an id in lower case is its host', () => {
  const hosts = ids.map((workspaceId) => paths.of({ workspaceId, messageId }).split('@')[1]);
  expect(new Set(hosts).size).toBe(ids.length);
  expect(hosts[0]).toBe(`demo.${domain}`);
});

test('a return path of another workspace, message, key or domain is none', () => {
  const address = paths.of({ workspaceId: 'demo', messageId });
  const wrong = [
    address.replace('@demo', '@other'),
    ...[3, 20, 30, 40].map(
      (at) => address.slice(0, at) + (address[at] === 'a' ? 'b' : 'a') + address.slice(at + 1),
    ),
    createReturnPaths(keyringOf(), domain).of({ workspaceId: 'demo', messageId }),
    address.replace(domain, 'example.com'),
    address.replace('@', '@@'),
    `${address}@demo.${domain}`,
    address.replace('@demo.', '@'),
    address.replace('b-', 'c-'),
  ];
  for (const each of wrong) expect([each, paths.read(each)]).toEqual([each, undefined]);
});

test.each([
  '',
  '@',
  'ann@example.com',
  `b-@demo.${domain}`,
  `b-${'1'.repeat(39)}@demo.${domain}`,
  `b-${'b'.repeat(39)}@demo.${domain}`,
  `b-${'a'.repeat(39)}@x-.${domain}`,
  `b-${'a'.repeat(39)}@x-${'a'.repeat(60)}.${domain}`,
  `b-${'a'.repeat(39)}@a.b.${domain}`,
  `b-${'ü'.repeat(39)}@demo.${domain}`,
  'b-'.repeat(100_000),
])('the text %.40p is no return path', (text) => {
  expect(paths.read(text)).toBeUndefined();
});

test('an id that is a label already has no second one', () => {
  const token = paths.of({ workspaceId: 'demo', messageId }).split('@')[0];
  // Base32 of `demo`.
  expect(paths.read(`${token}@x-mrsw23y.${domain}`)).toBeUndefined();
});
