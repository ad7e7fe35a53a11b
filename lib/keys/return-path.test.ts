import { expect, test } from '@jest/globals';
import { keysetsOf, newInstallation } from '../../deploy/keys/installation.ts';
import { createKeyring } from './keyring.ts';
import { createReturnPaths, mayBeReturnPath, returnPathHost } from './return-path.ts';

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
  expect(hosts).toEqual(ids.map((workspaceId) => returnPathHost(workspaceId, domain)));
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

const host = 'bounce.news.example.net';

test.each([...ids, 'z'.repeat(20), '0', '00', 'a'.repeat(19)])(
  'at a host of its own the return path of a mail of the workspace %p is read back, in any case',
  (workspaceId) => {
    const mail = { workspaceId, messageId };
    const address = paths.of(mail, host);
    expect(address).toMatch(/^b-[a-z2-7]{39,61}@bounce\.news\.example\.net$/);
    expect(address.indexOf('@')).toBeLessThanOrEqual(64);
    expect(paths.read(address)).toEqual(mail);
    expect(paths.read(address.toUpperCase())).toEqual(mail);
    expect(mayBeReturnPath(address, domain)).toBe(true);
    // The token proves the mail, at any host that leads here.
    expect(paths.read(address.replace(host, 'other.example'))).toEqual(mail);
    expect(paths.read(address.replace(host, 'bücher.example'))).toEqual(mail);
  },
);

test('no two workspaces have the same return path at one host', () => {
  const all = [...ids, '0', '00', '000', 'A', 'a'].map((workspaceId) =>
    paths.of({ workspaceId, messageId }, host),
  );
  expect(new Set(all).size).toBe(all.length);
});

test('at a host of its own a return path of another message, workspace or key is none', () => {
  const address = paths.of({ workspaceId: 'Demo', messageId }, host);
  const end = address.indexOf('@');
  const changed = Array.from({ length: end - 2 }, (_, index) => {
    const at = index + 2;
    return address.slice(0, at) + (address[at] === 'a' ? 'b' : 'a') + address.slice(at + 1);
  });
  const wrong = [
    ...changed,
    createReturnPaths(keyringOf(), domain).of({ workspaceId: 'Demo', messageId }, host),
    `${address.slice(0, end)}a${address.slice(end)}`,
    address.slice(0, end - 1) + address.slice(end),
    `${address}@${host}`,
    address.replace(host, domain),
    address.replace(host, `demo.${domain}`),
    address.replace('@', ''),
    address.replace('b-', 'c-'),
    // Below the installation's domain the label names the workspace, and the code is longer.
    paths.of({ workspaceId: 'demo', messageId }).replace(`demo.${domain}`, host),
  ];
  for (const each of wrong) expect([each, paths.read(each)]).toEqual([each, undefined]);
});

test('an id that is a label already has no second one', () => {
  const token = paths.of({ workspaceId: 'demo', messageId }).split('@')[0];
  // Base32 of `demo`.
  expect(paths.read(`${token}@x-mrsw23y.${domain}`)).toBeUndefined();
});
