import { expect, test } from '@jest/globals';
import { readOrigins } from './all.ts';

const read = (...items: string[]) => readOrigins(items, 'PROVIDER_ORIGINS');

test('origins are read by kind', () => {
  expect(read()).toEqual({});
  expect(read('postmark=http://127.0.0.1:9999', 'ses=https://proxy.example')).toEqual({
    postmark: 'http://127.0.0.1:9999',
    ses: 'https://proxy.example',
  });
});

test.each([
  'smtp=https://proxy.example',
  'pigeon=https://proxy.example',
  'https://proxy.example',
  '',
])('an origin of no kind that is called by HTTP is refused: “%s”', (item) => {
  expect(() => read(item)).toThrow(/^PROVIDER_ORIGINS names '.*', which is none of ses, /);
});

test.each([
  'postmark',
  'postmark=',
  'postmark=proxy.example',
  'postmark=ftp://proxy.example',
  'postmark=https://proxy.example/',
  'postmark=https://proxy.example/path',
  'postmark=https://user:pass@proxy.example',
  'postmark=https://PROXY.example',
])('a value that is no origin is refused: “%s”', (item) => {
  expect(() => read(item)).toThrow('PROVIDER_ORIGINS needs an origin for postmark');
});
