import { expect, test } from '@jest/globals';
import { cpuMs } from '../../test/cpu-time.ts';
import { fixedAddress, guardedAddress, isScript, nowhere } from './urls.ts';

test.each([
  'https://a.example/?b=1',
  'HTTP://a.example',
  'mailto:ann@a.example',
  'tel:+49301',
  'sms:+49301',
  '/path',
  '?a=b',
  '#top',
  './a',
  '//a.example',
])('a whole address by value may be %s', (address) => {
  expect(guardedAddress(address, '', 'href')).toBe(address);
});

test.each([
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  ' javascript:alert(1)',
  'java\tscript:alert(1)',
  'java\nscript:alert(1)',
  '\0javascript:alert(1)',
  '\u0001javascript:alert(1)',
  'javascript&#58;alert(1)',
  'javascript&colon;alert(1)',
  '&#106;avascript:alert(1)',
  '&#x6a;avascript:alert(1)',
  'vbscript:a',
  'data:text/html,<b>',
  'data:image/png;base64,AA',
  'file:///etc/passwd',
  'myapp:open',
  'www.example.com',
  '',
])('a whole address by value leads nowhere if it is %j', (address) => {
  expect(guardedAddress(address, '', 'href')).toBe(nowhere);
});

test.each([
  'java',
  'javascript:',
  'java&#9;script:',
  'JAVASCRIPT :',
  'data:',
  'vb',
  'javascript&colon;',
])('no value makes a script behind %j', (start) => {
  expect(guardedAddress(`${start}script:alert(1)`, start, 'href')).toBe(nowhere);
});

test.each(['myapp:', 'webcal://a.example/', 'https://a.example/?q=', '/', 'x-whatsapp:'])(
  'the author decides where an address leads that begins with %j',
  (start) => {
    expect(guardedAddress(`${start}javascript:a`, start, 'href')).toBe(`${start}javascript:a`);
  },
);

test('pictures may be parts of the mail, and pictures as data', () => {
  expect(guardedAddress('cid:logo', '', 'src')).toBe('cid:logo');
  expect(guardedAddress('data:image/png;base64,AA', '', 'src')).toBe('data:image/png;base64,AA');
  expect(guardedAddress('javascript:a', '', 'src')).toBe(nowhere);
});

test('scripts among the pictures to choose from lead nowhere', () => {
  expect(guardedAddress('javascript:a 1x, https://a.example/b.png 2x', '', 'srcset')).toBe(
    '# 1x, https://a.example/b.png 2x',
  );
});

test.each([
  'javascript:a',
  ' JavaScript:a',
  'java\nscript:a',
  'java&#9;script:a',
  'java&Tab;script:a',
  'java&NewLine;script&colon;a',
  'javascript&#58;a',
  'javascript&#0000058a',
  'javascript&#x3A;a',
  '\u0001javascript:a',
  'vbscript:a',
  'data:text/html,a',
])('%j is a script, whoever wrote it', (address) => {
  expect(isScript(address)).toBe(true);
});

test.each(['https://a.example/javascript:a', 'java', 'javascripts:a', 'myapp:javascript', '#', ''])(
  '%j is no script',
  (address) => {
    expect(isScript(address)).toBe(false);
  },
);

test.each([
  [' https://a.example/b c.png\n', 'https://a.example/b%20c.png'],
  ['https://a.example/\u200bb', 'https://a.example/%E2%80%8Bb'],
  ['www.example.com', 'www.example.com'],
  [' ', ''],
  ['java\tscript:a', nowhere],
  ['true', nowhere],
  [' false ', nowhere],
])('an address without values is written without white space: %j', (address, expected) => {
  expect(fixedAddress(address)).toBe(expected);
});

test('an address of values is written without white space, also without one that is invisible', () => {
  const written = guardedAddress(' https://a.example/\u200b b', '', 'href');
  expect(written).toBe('https://a.example/%E2%80%8B%20b');
});

test('a long address is read once', () => {
  const ms = cpuMs(() => {
    for (const unit of [' ', '&#', '&#0', 'data:image/', '\u0001', ',a:']) {
      const address = unit.repeat(500_000 / unit.length);
      isScript(address);
      guardedAddress(address, '', 'src');
      guardedAddress(address, '', 'srcset');
    }
  });
  expect(ms).toBeLessThan(1_500);
});

test.each(['myapp:open', 'MyApp://a', 'x-cal+2.0:a'])(
  'a link by value may lead to %s where the workspace allows the scheme',
  (address) => {
    expect(guardedAddress(address, '', 'href', ['myapp', 'x-cal+2.0'])).toBe(address);
  },
);

test.each([
  ['href', 'javascript:a'],
  ['href', 'my:app:a'],
  ['href', 'myapp'],
  ['src', 'myapp:a'],
  ['href', ' java\tscript:a'],
])('a scheme that the workspace allows opens nothing else: %s, %j', (attribute, address) => {
  expect(guardedAddress(address, '', attribute, ['myapp'])).toBe(nowhere);
});
