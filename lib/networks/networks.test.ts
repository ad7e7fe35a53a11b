import { expect, test } from '@jest/globals';
import { canonicalNetwork, isInNetworks } from './networks.ts';

test.each([
  ['203.0.113.7', '203.0.113.7/32'],
  [' 203.0.113.0/24 ', '203.0.113.0/24'],
  ['0.0.0.0/0', '0.0.0.0/0'],
  ['2001:DB8::/32', '2001:db8::/32'],
  ['2001:db8::7', '2001:db8::7/128'],
  ['::ffff:10.0.0.0/104', '10.0.0.0/8'],
  ['::ffff:10.0.0.7', '10.0.0.7/32'],
  ['::ffff:a00:7', '10.0.0.7/32'],
  ['::/0', '::/0'],
])('the network %j is stored as %j', (text, network) => {
  expect(canonicalNetwork(text)).toBe(network);
});

test.each(
  [
    [
      '',
      '10.0.0.0/',
      '10.0.0.0/33',
      '10.0.0.0/-1',
      '10.0.0.0/8/8',
      '10.1',
      '010.0.0.1',
      '0x7f.0.0.1',
    ],
    [
      '10.0.0.5/8',
      '2001:db8::1/32',
      '::ffff:10.0.0.0/95',
      '::ffff:10.0.0.5/104',
      'fe80::1%eth0',
      '::10.0.0.1',
    ],
    ['example.com', '10.0.0.0/8,11.0.0.0/8', '2001:db8::/129', '10.0.0.0/1e1'],
  ].flat(),
)('%j is not a network', (text) => {
  expect(canonicalNetwork(text)).toBeUndefined();
});

test.each([
  ['10.1.2.3', true],
  ['::ffff:10.1.2.3', true],
  ['::FFFF:0a01:0203', true],
  ['11.0.0.1', false],
  ['2001:db8:1::9', true],
  ['2001:db9::9', false],
  ['::10.1.2.3', false],
  ['fe80::1%eth0', false],
  ['', false],
  ['10.1', false],
  ['unknown', false],
])('the address %j is in 10.0.0.0/8 or 2001:db8::/32: %j', (address, isIn) => {
  expect(isInNetworks(['10.0.0.0/8', '2001:db8::/32'], address)).toBe(isIn);
});

test('a network of all IPv4 addresses holds no IPv6 address, and the other way round', () => {
  expect(isInNetworks(['0.0.0.0/0'], '2001:db8::1')).toBe(false);
  expect(isInNetworks(['::/0'], '::ffff:10.0.0.1')).toBe(false);
  expect(isInNetworks(['0.0.0.0/0'], '::ffff:10.0.0.1')).toBe(true);
});
