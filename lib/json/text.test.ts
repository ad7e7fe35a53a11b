import { expect, test } from '@jest/globals';
import { cpuMs } from '../../test/cpu-time.ts';
import { inexactInteger, parseExactly, parseJson, parseText } from './text.ts';

const parse = (text: string) => parseExactly(Buffer.from(text));

test('an integer that a double would round becomes a text of its digits, wherever it stands', () => {
  const text = `{"id":10215467823456789, "items": [{"guid": 12345678901234567891}, -9007199254740993 ,
    ${'9'.repeat(400)}], "last":
    9007199254740992}`;
  expect(parse(text)).toEqual({
    id: '10215467823456789',
    items: [{ guid: '12345678901234567891' }, '-9007199254740993', '9'.repeat(400)],
    last: '9007199254740992',
  });
});

test.each([
  '[9007199254740991, -9007199254740991]',
  '[1e21, 12345678901234567e3, 12345678901234567.5, 0.12345678901234567, 1.5e1234567890123456]',
  '["[12345678901234567, 1", "\\\\", "\\": 12345678901234567,", ":12345678901234567"]',
  '{"12345678901234567": "\\u0022,12345678901234567,"}',
])('everything else in %s is parsed as JSON is', (text) => {
  expect(parse(text)).toEqual(JSON.parse(text));
});

test.each([
  '{12345678901234567:1}',
  '[01234567890123456]',
  '["12345678901234567]',
  '["a \\12345678901234567]',
  '[- 12345678901234567]',
])('%s is no JSON', (text) => {
  expect(() => parse(text)).toThrow(SyntaxError);
  expect(() => parseJson(Buffer.from(text))).toThrow(SyntaxError);
});

test('an integer that a double would round is marked, in an element of a list as well', () => {
  const text = '{"a":[12345678901234567,-9007199254740993 , 1],"b":9007199254740991}';
  const marked = [inexactInteger, inexactInteger, 1];
  expect(parseJson(Buffer.from(text))).toEqual({ a: marked, b: 9007199254740991 });
  expect(parseText(text, 6, 23)).toBe(inexactInteger);
});

test.each([
  ['a text', `"${'\\"'.repeat(8 * 1024 * 1024)}"`],
  ['a number', `0.${'1'.repeat(16 * 1024 * 1024)}`],
  ['an integer', '1'.repeat(16 * 1024 * 1024)],
])('%s of any length may stand beside a long integer', (_, value) => {
  const text = `{"value": ${value},"id":12345678901234567}`;
  expect(parse(text)).toMatchObject({ id: '12345678901234567' });
});

test.each([
  ['long integers, small ones and texts', '12345678901234567,1,"",'.repeat(40_000)],
  ['long integers within a text', `"${' 12345678901234567,'.repeat(55_000)}",`],
  ['long integers behind the last text', ' 12345678901234567,'.repeat(55_000)],
  ['small integers', '1,'.repeat(500_000)],
  ['quotes within texts', `"${'\\"'.repeat(500_000)}",`],
  ['one long number', `${'1'.repeat(1_000_000)}.5,`],
])('a megabyte of %s is parsed in a moment', (_, values) => {
  const text = `[${values} 12345678901234567]`;
  expect(cpuMs(() => void parse(text))).toBeLessThan(200);
  expect(cpuMs(() => void parseJson(Buffer.from(text)))).toBeLessThan(200);
});
