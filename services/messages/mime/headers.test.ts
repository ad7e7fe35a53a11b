import { expect, test } from '@jest/globals';
import { ownHeader, textHeader } from './headers.ts';

const encodedWord = /^Subject: =\?UTF-8\?B\?/;

test.each(['x', 'Hello Ada', 'News: 50 % off (today!)', `${'word '.repeat(13)}end.`])(
  'short plain text stands on one line as it is: %j',
  (text) => {
    expect(textHeader('Subject', text).line).toBe(`Subject: ${text}\r\n`);
  },
);

test('a line ends at 78 characters', () => {
  const text = `${'a'.repeat(34)} ${'b'.repeat(34)}`;
  expect(textHeader('Subject', text).line).toBe(`Subject: ${text}\r\n`);
  expect(textHeader('Subject', `${text}b`).line).toBe(
    `Subject: ${'a'.repeat(34)}\r\n ${'b'.repeat(35)}\r\n`,
  );
});

test.each([
  ' two',
  'two ',
  'one  two',
  'one\ttwo',
  'one\r\nBcc: two',
  'one\u2028two',
  'one\u0000two',
])('white space and control characters become single spaces: %j', (text) => {
  const words = text.split(/[\s\0]+/).filter((word) => word !== '');
  expect(textHeader('Subject', text).line).toBe(`Subject: ${words.join(' ')}\r\n`);
});

test('a word of 59 characters stays, and one of 60 is encoded', () => {
  expect(textHeader('Subject', 'x'.repeat(59)).line).toBe(`Subject: ${'x'.repeat(59)}\r\n`);
  expect(textHeader('Subject', 'x'.repeat(60)).line).toMatch(encodedWord);
});

test.each(['=?UTF-8?B?eA==?=', 'Zoë', 'A price of 5 €'])('%j is encoded', (text) => {
  expect(textHeader('Subject', text).line).toMatch(encodedWord);
});

test('text that looks a little like an encoded word stays as it is', () => {
  expect(textHeader('Subject', '1 + 1 = 2?').line).toBe('Subject: 1 + 1 = 2?\r\n');
});

test.each([
  ['X-A', `${'a'.repeat(60)}${' '.repeat(40)}${'b'.repeat(60)}`],
  ['Comments', `x${' '.repeat(200)}y`],
  ['X-C', `z${' '.repeat(100)}`],
  ['X-D', ` ${'words '.repeat(30)}`],
  ['X-E', `${'ü'.repeat(60)}${' '.repeat(90)}ü `],
])('no line of the own header %s has white space only', (name, value) => {
  const lines = ownHeader(name, value).line.split('\r\n');
  expect(lines.pop()).toBe('');
  for (const line of lines) expect(line).toMatch(/\S/);
  expect(lines.slice(1).every((line) => /^ \S/.test(line))).toBe(true);
});
