import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { keysetsOf, newInstallation } from '../../deploy/keys/installation.ts';
import { createBox } from './box.ts';
import { createKeyring } from './keyring.ts';

const plain = Buffer.from('{"order":"1042"}');

test('a sealed value opens for the same place, with any of the keys', () => {
  const [old, current] = [randomBytes(32), randomBytes(32)];
  const sealed = createBox([old]).seal(plain, 'row 1');
  expect(createBox([current, old]).open(sealed, 'row 1')).toEqual(plain);
  expect(sealed.includes(plain)).toBe(false);
});

test('a sealed value does not open for another place, with another key, or after a change', () => {
  const box = createBox([randomBytes(32)]);
  const sealed = box.seal(plain, 'row 1');
  expect(() => box.open(sealed, 'row 2')).toThrow(/cannot be opened/);
  expect(() => createBox([randomBytes(32)]).open(sealed, 'row 1')).toThrow(/cannot be opened/);
  for (const at of [0, 15, sealed.length - 1]) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(() => box.open(changed, 'row 1')).toThrow(/cannot be opened/);
  }
  expect(() => box.open(Buffer.alloc(3), 'row 1')).toThrow(/cannot be opened/);
});

test('each workspace and each purpose has a key of its own', () => {
  const keyset = keysetsOf(newInstallation()).messages;
  if (!keyset) throw new Error('no keys');
  const keyring = createKeyring(keyset);
  const sealed = keyring.box('message-requests', 'w1').seal(plain, '');
  expect(keyring.box('message-requests', 'w1').open(sealed, '')).toEqual(plain);
  expect(() => keyring.box('message-requests', 'w2').open(sealed, '')).toThrow();
  expect(() => keyring.box('message-contents', 'w1').open(sealed, '')).toThrow();
});
