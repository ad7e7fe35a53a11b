import { createHmac, randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { createMac } from './mac.ts';

test.each([0, 1, 32, 63, 64])('with a key of %i bytes it is HMAC-SHA256', (length) => {
  const key = randomBytes(length);
  const mac = createMac(key);
  for (const size of [0, 1, 24, 55, 56, 64, 1_000, 10_000]) {
    const message = randomBytes(size);
    expect(mac(message)).toEqual(createHmac('sha256', key).update(message).digest());
  }
});

test('a MAC is not changed by making the next one', () => {
  const mac = createMac(randomBytes(32));
  const first = mac(Buffer.from('first'));
  const kept = Buffer.from(first);
  mac(Buffer.from('second'));
  expect(first).toEqual(kept);
});

test('a key that is longer than a block is refused', () => {
  expect(() => createMac(randomBytes(65))).toThrow('at most 64 bytes');
});
