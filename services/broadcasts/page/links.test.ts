import { expect, test } from '@jest/globals';
import { keyringOfAll } from '#lib/test/all-keys.ts';
import { newInstallation } from '../../../deploy/keys/installation.ts';
import { createPageLinks } from './links.ts';

const first = 'a-secret-key-that-is-for-tests-only';
const other = 'another-secret-key-only-for-these-tests';
const clock = { now: new Date('2030-01-01T12:00:00Z') };
const linksOf = (secrets: string, publicUrl = 'https://mail.example/') =>
  createPageLinks({
    keyring: keyringOfAll('broadcasts', newInstallation(secrets)),
    publicUrl,
    now: () => clock.now,
  });
const links = linksOf(first);
const key = { workspaceId: 'acme', id: 'b1' };
const tokenOf = (given = links, of = key) =>
  new URL(given.urlOf(of) ?? '').searchParams.get('token') ?? '';

test('a link names its broadcast, and its token the workspace and the end', () => {
  expect(links.urlOf(key)).toMatch(/^https:\/\/mail\.example\/broadcasts\/b1\?token=[\w-]{32}$/);
  expect(links.read('b1', tokenOf())).toEqual({
    workspaceId: 'acme',
    expiresAt: new Date('2030-02-01T00:00:00Z'),
  });
});

test('without the address of the gateway there is no link', () => {
  expect(linksOf(first, '').urlOf(key)).toBeUndefined();
});

test('links of one day are the same, and valid for at least 30 days', () => {
  const token = tokenOf();
  try {
    clock.now = new Date('2030-01-01T23:59:59Z');
    expect(tokenOf()).toBe(token);
    clock.now = new Date('2030-01-31T23:59:59Z');
    expect(links.read('b1', token)).toBeDefined();
    clock.now = new Date('2030-02-01T00:00:00Z');
    expect(links.read('b1', token)).toBeUndefined();
  } finally {
    clock.now = new Date('2030-01-01T12:00:00Z');
  }
});

test('a link outlives a change of the key while the old one is listed', () => {
  expect(linksOf(`${other},${first}`).read('b1', tokenOf())).toBeDefined();
  expect(linksOf(other).read('b1', tokenOf())).toBeUndefined();
});

test('a token of another broadcast, of another workspace or with a changed bit is none of ours', () => {
  expect(links.read('b2', tokenOf())).toBeUndefined();
  const token = tokenOf();
  const bytes = Buffer.from(token, 'base64url');
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3]! ^= 1 << (bit & 7);
    expect(links.read('b1', changed.toString('base64url'))).toBeUndefined();
  }
});

test('no other text is read as a token', () => {
  const token = tokenOf();
  const others = [
    '',
    'x',
    '-',
    token.slice(0, 30),
    `${token}A`,
    `${token}=`,
    ` ${token}`,
    'é'.repeat(40),
  ];
  for (const text of others) expect(links.read('b1', text)).toBeUndefined();
});
