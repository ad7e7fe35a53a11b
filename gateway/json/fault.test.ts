import { expect, test } from '@jest/globals';
import { faultOf } from './fault.ts';

const fault = (text: string | Uint8Array) =>
  faultOf(typeof text === 'string' ? new TextEncoder().encode(text) : text);

test.each([
  ['', 'the JSON ends too early at line 1, column 1'],
  ['  \n ', 'the JSON ends too early at line 2, column 2'],
  ['x', 'not JSON at line 1, column 1'],
  ['{"a": 1,\n  "b": 2,\n  "c": wrong\n}', 'not JSON at line 3, column 8'],
  ['{"a": 1,}', 'not JSON at line 1, column 9'],
  ['{"a" 1}', 'not JSON at line 1, column 6'],
  ['{"a": 1 "b": 2}', 'not JSON at line 1, column 9'],
  ["{'a': 1}", 'not JSON at line 1, column 2'],
  ['{a: 1}', 'not JSON at line 1, column 2'],
  ['{"a": [1, 2}', 'not JSON at line 1, column 12'],
  ['{"a": [1, 2],', 'the JSON ends too early at line 1, column 14'],
  ['{"a": [,]}', 'not JSON at line 1, column 8'],
  ['{"a": "b', 'the JSON ends too early at line 1, column 9'],
  ['{"a": "b\n"}', 'not JSON at line 1, column 9'],
  ['{"a": "\\x"}', 'not JSON at line 1, column 8'],
  ['{"a": "\\u12g4"}', 'not JSON at line 1, column 8'],
  ['{"a": "\\u12', 'not JSON at line 1, column 8'],
  ['{"a": 01}', 'not JSON at line 1, column 8'],
  ['{"a": -}', 'not JSON at line 1, column 7'],
  ['{"a": 1.}', 'not JSON at line 1, column 8'],
  ['{"a": tru}', 'not JSON at line 1, column 7'],
  ['{"a": 1} x', 'not JSON at line 1, column 10'],
  ['{"a": 1}{}', 'not JSON at line 1, column 9'],
  ['{"é\\u00e9𝄞": x}', 'not JSON at line 1, column 15'],
  ['\ufeff{x', 'not JSON at line 1, column 2'],
  ['[1]', 'the body must be a JSON object'],
  ['null', 'the body must be a JSON object'],
])('the text %j is at fault: %s', (text, expected) => {
  expect(fault(text)).toBe(expected);
});

test('the error for a body that is not UTF-8 says so', () => {
  expect(fault(Uint8Array.from([0x7b, 0xff]))).toBe('the body must be UTF-8');
});

test('a body has a fault if and only if the parser refuses it', () => {
  const parts = [
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
    '"a"',
    '"\\n"',
    '1',
    '-0.5e+3',
    'null',
    ' ',
    '\n',
    '01',
    'x',
  ];
  let seed = 7;
  const random = (max: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * max);
  };
  let valid = 0;
  for (let round = 0; round < 20_000; round += 1) {
    const words = Array.from({ length: 1 + random(7) }, () => parts[random(parts.length)]);
    const text = `{"k":${words.join('')}}`;
    let isValid = true;
    try {
      JSON.parse(text);
      valid += 1;
    } catch {
      isValid = false;
    }
    expect([text, fault(text) === 'the body must be a JSON object']).toEqual([text, isValid]);
  }
  expect(valid).toBeGreaterThan(500);
});

test('a large body is checked in one pass', () => {
  const deep = '['.repeat(2_000_000);
  expect(fault(deep)).toBe('the JSON ends too early at line 1, column 2000001');
  const long = `{"a": "${'x\\n'.repeat(2_000_000)}`;
  expect(fault(long)).toMatch('ends too early');
});
