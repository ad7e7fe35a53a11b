import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { addressFault, canonicalAddress, canonicalTimeZone, isTimeZone } from './address.ts';

test.each([
  ['ada@example.com', 'ada@example.com'],
  ['  Ada.Lovelace@Example.COM\t', 'ada.lovelace@example.com'],
  ['ada+news@example.com', 'ada+news@example.com'],
  ["o'brien!#$%&*/=?^_`{|}~-@example.com", "o'brien!#$%&*/=?^_`{|}~-@example.com"],
  ['ada@sub.example.co.uk', 'ada@sub.example.co.uk'],
  ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
  ['ada@xn--bcher-kva.example', 'ada@xn--bcher-kva.example'],
  ['ada@BÜCHER.example', 'ada@xn--bcher-kva.example'],
  ['ada@EXAMPLE.com', 'ada@example.com'],
  [`${'a'.repeat(64)}@example.com`, `${'a'.repeat(64)}@example.com`],
])('%p is stored as %p', (text, stored) => {
  expect(canonicalAddress(text)).toBe(stored);
});

test.each([
  '',
  'ada',
  '@example.com',
  'ada@',
  'ada@localhost',
  'ada@-example.com',
  'ada@example-.com',
  'ada@example..com',
  'ada@example.com.',
  'ada@127.0.0.1',
  'ada@[127.0.0.1]',
  'ada@exa mple.com',
  'ada@ex%61mple.com',
  'ada@example.com:25',
  'ada@example.com/path',
  'ada@exam_ple.com',
  'ada@example.c',
  'ada@example.123',
  '.ada@example.com',
  'ada.@example.com',
  'ada..l@example.com',
  'ada l@example.com',
  '"ada"@example.com',
  'ada(comment)@example.com',
  '<ada@example.com>',
  'Ada <ada@example.com>',
  'ada@example.com, bob@example.com',
  'ada@bob@example.com',
  'ada\r\nBcc: bob@example.com',
  'ada\n@example.com',
  'ada\u0000@example.com',
  'ada\u200b@example.com',
  'ada\u2028@example.com',
  `${'a'.repeat(65)}@example.com`,
  'josé@example.com',
  'jose\u0301@example.com',
  'почта@example.com',
  'संपर्क@डाटामेल.भारत',
  '\u212aarl@example.com',
  `ada@${'a'.repeat(64)}.example`,
  `ada@${'abcdefghi.'.repeat(26)}example`,
])('%p is not an address', (text) => {
  expect(canonicalAddress(text)).toBeUndefined();
});

test.each([
  ['josé@example.com', /only ASCII characters are supported before the @$/],
  ['ada\u200b@example.com', /only ASCII characters are supported before the @$/],
  ['ada lovelace@bücher.example', /^invalid email format$/],
  ['ada', /^invalid email format$/],
])('the error for %j says why it is not an address', (text, fault) => {
  expect(addressFault(text)).toMatch(fault);
});

test('the stored form of an address is stable', () => {
  for (const text of [' Ada@BÜCHER.example ', 'ADA+x@Example.com']) {
    const stored = canonicalAddress(text) ?? '';
    expect(stored).not.toBe('');
    expect(canonicalAddress(stored)).toBe(stored);
  }
});

test('the stored form of any text is stable, lower case, and safe in a header', () => {
  const characters = [...'azAZ09_.+@ "<>(),;:\\[]%-\r\n\0Üİ\u200b\u2028\u212aＡ', '\u0301'];
  const odd = fc.string({ unit: fc.constantFrom(...characters), maxLength: 20 });
  const part = fc.oneof(odd, fc.string({ unit: 'grapheme' }), fc.emailAddress());
  const text = fc
    .tuple(part, fc.constantFrom('@', '', '@@'), fc.oneof(fc.domain(), part))
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.oneof(text, fc.emailAddress()), (given) => {
      const stored = canonicalAddress(given);
      if (stored === undefined) return;
      expect(canonicalAddress(stored)).toBe(stored);
      expect(canonicalAddress(` ${given.toUpperCase()}\t`)).toBeDefined();
      expect(stored).toBe(stored.toLowerCase());
      expect(stored).toMatch(/^[^\s<>()[\]\\,;:@"\p{C}\p{Z}]+@[a-z0-9.-]+$/u);
      expect(Buffer.byteLength(stored)).toBeLessThanOrEqual(254);
    }),
    { numRuns: 2_000 },
  );
});

test('an address is at most 254 bytes', () => {
  const domain = `${'a'.repeat(61)}.${'b'.repeat(61)}.${'c'.repeat(61)}.example`;
  const fits = `${'x'.repeat(254 - domain.length - 1)}@${domain}`;
  expect(canonicalAddress(fits)).toBe(fits);
  expect(canonicalAddress(`x${fits}`)).toBeUndefined();
});

test.each([
  ['Europe/Paris', true],
  ['UTC', true],
  ['America/Argentina/Buenos_Aires', true],
  ['Etc/GMT+5', true],
  ['EST', true],
  ['utc', true],
  ['Europe/Kyiv', true],
  ['IST', false],
  ['bst', false],
  ['SystemV/AST4', false],
  ['', false],
  ['+02:00', false],
  ['Mars/Olympus', false],
  ['Europe/Paris ', false],
  [`Europe/${'P'.repeat(60)}`, false],
])('the zone %p is known: %p', (name, known) => {
  expect(isTimeZone(name)).toBe(known);
});

test('a zone has a name that old databases of zones have', () => {
  expect(['Europe/Kyiv', 'US/Pacific-New', 'IST', 'Mars/Olympus'].map(canonicalTimeZone)).toEqual([
    ...['Europe/Kiev', 'America/Los_Angeles', 'Asia/Calcutta', undefined],
  ]);
});
