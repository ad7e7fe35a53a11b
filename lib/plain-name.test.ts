import { expect, test } from '@jest/globals';
import { plainName } from './plain-name.ts';

test.each([
  ['Acme Inc.', 'Acme Inc.'],
  ['Müller & Söhne – Wien', 'Müller & Söhne – Wien'],
  ['https://evil.example/a?b=c#d', 'https evil example a b=c d'],
  ['evil.example', 'evil example'],
  ['evil\u3002example', 'evil example'],
  ['mailto:a@evil.example', 'mailto a evil example'],
  ['two\r\nlines', 'two lines'],
  ['\\\\host\\share', 'host share'],
])('the name %j is %j in a mail', (name, plain) => {
  expect(plainName(name)).toBe(plain);
});
