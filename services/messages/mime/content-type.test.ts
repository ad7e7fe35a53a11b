import { expect, test } from '@jest/globals';
import { cpuMs } from '../../../test/cpu-time.ts';
import { readContentType } from './content-type.ts';

test.each([
  'application/pdf',
  'text/plain; charset=utf-8',
  'text/plain; charset="utf-8"',
  'text/calendar; method="REQUEST"; charset="UTF-8"',
  'text/calendar; charset=UTF-8; method=REQUEST; component=VEVENT; x=y',
  'a/b; c="d \\" e"',
])('%s stays as it is written', (type) => {
  expect(readContentType(type)).toEqual({ type });
});

test.each([
  ['application/pdf; name=a.pdf', 'application/pdf'],
  ['application/pdf; name="My File.pdf"', 'application/pdf'],
  ['application/pdf;NAME="a; b=c.pdf";x=y', 'application/pdf; x=y'],
  ["application/pdf; name*0*=UTF-8''a; name*1=b", 'application/pdf'],
  ['text/calendar ;method=REQUEST; name=invite.ics', 'text/calendar; method=REQUEST'],
])('the name in %s is left out', (given, type) => {
  expect(readContentType(given)).toEqual({ type });
});

test.each([
  ['pdf', 'is not a media type'],
  ['a/b\r\nX: y', 'is not a media type'],
  ['a/b; c="d\r\ne"', 'has a parameter that is neither'],
  ['a/b;', 'has a parameter that is neither'],
  ['a/b; c="d', 'has a parameter that is neither'],
  ['a/b; c=d; C="e"', 'has the parameter c twice'],
  ['message/rfc822', 'must not be multipart or message'],
  [`a/b${Array.from({ length: 11 }, (_, n) => `; p${n}=1`).join('')}`, 'at most 10 parameters'],
])('%j is refused', (given, fault) => {
  expect(readContentType(given)).toEqual({ fault: expect.stringContaining(fault) });
});

test('a long value is read in linear time', () => {
  const long = `a/b; c="${'\\"'.repeat(240)}`;
  expect(cpuMs(() => void readContentType(long))).toBeLessThan(50);
});
