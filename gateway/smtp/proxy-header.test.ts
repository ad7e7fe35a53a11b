import { expect, test } from '@jest/globals';
import { readProxyHeader } from './proxy-header.ts';

const signature = '0d0a0d0a000d0a515549540a';
const binary = (rest: string) => Buffer.from(signature + rest.replaceAll(/\s/g, ''), 'hex');
const ann = { remoteAddress: '203.0.113.7', remotePort: 5_000 };
const six = { remoteAddress: '2001:db8::7', remotePort: 5_000 };

const tcp4 = '21 11 000c cb007107 c6336401 1388 024b';
const tcp6 =
  '21 21 0024 20010db8000000000000000000000007 20010db8000000000000000000000001 1388 024b';
/** An endpoint of AWS, and padding. */
const extensions = 'ea 0011 01 767063652d3038643262663135666163 04 0000';

/**
 * Written by HAProxy 2.6; one with `proxy-v2-options ssl,cert-cn,authority,unique-id,crc32c`.
 */
const ofHaproxy = {
  tcp4: '2111000c 7f000001 7f000001 808c 1b59',
  tcp6: '21210024 00000000000000000000000000000001 00000000000000000000000000000001 81ce 1b5a',
  withOptions: `21110042 7f000001 7f000001 8cf0 1b5b 030004b95b134b 050024
    38316230316561642d656162642d343631642d383264392d623634623231623562336631 20000500000000 00`,
  check: '20000000',
};

test.each([
  ['PROXY TCP4 203.0.113.7 198.51.100.1 5000 587\r\n', ann],
  ['PROXY TCP6 2001:DB8:0::7 2001:db8::1 5000 587\r\n', six],
  ['PROXY TCP6 ::ffff:203.0.113.7 ::ffff:198.51.100.1 5000 587\r\n', ann],
  ['PROXY UNKNOWN\r\n', undefined],
  ['PROXY UNKNOWN ffff::ffff ffff::ffff 65535 65535\r\n', undefined],
])('the line %p is read, whatever follows it and wherever it is cut', (text, client) => {
  expectRead(Buffer.from(text), client);
});

test.each([
  ['of IPv4', tcp4, ann],
  ['of IPv6', tcp6, six],
  [
    'of IPv4 written as IPv6',
    '21 21 0024 00000000000000000000ffffcb007107 00000000000000000000ffffc6336401 1388 024b',
    ann,
  ],
  ['with extensions', `21 11 0023 ${tcp4.slice(11)} ${extensions}`, ann],
  ['of HAProxy', ofHaproxy.tcp4, { remoteAddress: '127.0.0.1', remotePort: 32_908 }],
  ['of HAProxy for IPv6', ofHaproxy.tcp6, { remoteAddress: '::1', remotePort: 33_230 }],
  [
    'of HAProxy with options',
    ofHaproxy.withOptions,
    { remoteAddress: '127.0.0.1', remotePort: 36_080 },
  ],
  ['of a check by HAProxy', ofHaproxy.check, undefined],
  ['of a check with addresses', `20${tcp4.slice(2)}`, undefined],
  ['of a check with a family that nobody knows', '20 7f 0003 aabbcc', undefined],
  ['of a client without an address', '21 00 0000', undefined],
  ['of such a client, with extensions', '21 00 0007 05 0004 61626364', undefined],
  ['of a UNIX socket', `21 31 00d8 ${'2f'.repeat(216)}`, undefined],
])('a header %s is read, whatever follows it and wherever it is cut', (_, rest, client) => {
  expectRead(binary(rest), client);
});

function expectRead(header: Buffer, client: typeof ann | undefined): void {
  for (let length = 0; length < header.length; length += 1) {
    expect(readProxyHeader(header.subarray(0, length))).toBeUndefined();
  }
  const expected = { length: header.length, client };
  expect(readProxyHeader(header)).toEqual(expected);
  for (const behind of ['EHLO x\r\n', header]) {
    expect(readProxyHeader(Buffer.concat([header, Buffer.from(behind)]))).toEqual(expected);
  }
}

test.each([
  'EHLO x\r\n',
  '\r\nEHLO x\r\n',
  '\u0016\u0003\u0001',
  'PROXY\r\n',
  'PROXY \r\n',
  'PROXY UNKNOWNS\r\n',
  'proxy tcp4 203.0.113.7 198.51.100.1 5000 587\r\n',
  'PROXY TCP4 203.0.113.7 198.51.100.1 5000\r\n',
  'PROXY TCP4  203.0.113.7 198.51.100.1 5000 587\r\n',
  'PROXY TCP4 203.0.113.7 198.51.100.1 5000 65536\r\n',
  'PROXY TCP4 203.0.113.7 198.51.100.1 -1 587\r\n',
  'PROXY TCP4 203.0.113.7 198.51.100.1 5000 587\n\r\n',
  'PROXY TCP4 203.0.113.007 198.51.100.1 5000 587\r\n',
  'PROXY TCP4 2001:db8::7 2001:db8::1 5000 587\r\n',
  'PROXY TCP6 203.0.113.7 198.51.100.1 5000 587\r\n',
  'PROXY TCP6 fe80::1%eth0 2001:db8::1 5000 587\r\n',
  'PROXY UDP4 203.0.113.7 198.51.100.1 5000 587\r\n',
  `PROXY UNKNOWN ${'a'.repeat(92)}\r\n`,
])('%p is refused', (text) => {
  expect(() => readProxyHeader(Buffer.from(text, 'latin1'))).toThrow('PROXY protocol');
});

test.each([
  ['another version', `11${tcp4.slice(2)}`],
  ['another command', `22${tcp4.slice(2)}`],
  ['another protocol', '21 13 000c cb007107 c6336401 1388 024b'],
  ['another family', '21 41 000c cb007107 c6336401 1388 024b'],
  ['addresses that are cut off', '21 11 000b cb007107 c6336401 1388 02'],
  ['addresses of the other family', '21 21 000c cb007107 c6336401 1388 024b'],
  ['more than 4 KiB, before they come', '21 11 0ff1'],
])('a header with %s is refused', (_, rest) => {
  expect(() => readProxyHeader(binary(rest))).toThrow('version 2');
});

test('a line that never ends, and a wrong signature, are refused at their first wrong byte', () => {
  const line = Buffer.from(`PROXY UNKNOWN ${'a'.repeat(93)}`);
  expect(readProxyHeader(line.subarray(0, 106))).toBeUndefined();
  expect(() => readProxyHeader(line)).toThrow('version 1');
  const wrong = Buffer.from(signature, 'hex');
  wrong[11] = 0;
  expect(readProxyHeader(wrong.subarray(0, 11))).toBeUndefined();
  expect(() => readProxyHeader(wrong)).toThrow('PROXY protocol');
});
