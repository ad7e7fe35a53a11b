import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { cpuMs } from '../../test/cpu-time.ts';
import { linkWriter, numberByOutput, numberLinks } from './links.ts';

const tracking = { opens: 'https://t.example/t/', clicks: 'https://t.example/r/' };
const links = { utm: { source: 'news' }, tracking };
const recipient = { token: 'T', systemUrls: ['https://t.example/u/T'] };
const write = linkWriter({ ...links, linkKey: randomBytes(32) });
const link = (rendered: string, over = {}) =>
  write({ rendered, start: '', attribute: 'href', number: 3, ...over }, recipient);

test('links have numbers by their address as it is sent, or by the place of their Liquid', () => {
  const source = '<a href="https://a.example">a</a><a href="{{ b }}">b</a>';
  const { names, numbers } = numberLinks(source, links);
  expect(names).toEqual(['https://a.example?utm_source=news', '{{ b }}', '{{ url }}']);
  expect(numbers.addresses).toEqual({ 'https://a.example?utm_source=news': 0 });
  const place = source.indexOf('{{ b }}');
  expect(numberByOutput(numbers, [place])).toBe(1);
  expect(numberByOutput(numbers, [0])).toBe(2);
});

test('addresses that act for the recipient, and other schemes, have no number', () => {
  const source =
    '<a href="{{ unsubscribe_url }}"></a><a href="mailto:{{ a }}"></a><a href="#{{ a }}"></a>';
  expect(numberLinks(source, links).numbers.ranges).toEqual([]);
});

test('names of objects are no addresses', () => {
  const { numbers } = numberLinks('<a href="https://a.example">', links);
  expect(numbers.addresses.constructor).toBeUndefined();
  expect(Object.keys(numbers.addresses)).toHaveLength(1);
});

test('a link of a recipient is signed with its UTM values', () => {
  const { url, link: written } = link('https://a.example/?b=1&amp;c=2');
  expect(url).toBe('https://a.example/?b=1&c=2&utm_source=news');
  expect(written).toMatch(/^https:\/\/t\.example\/r\/T\/3\//);
});

test.each([
  ['acts for the recipient', 'https://t.example/u/T', {}],
  ['is no web address', 'mailto:a@b.example', {}],
  [
    'is the address of a picture',
    'https://a.example/b.png',
    { attribute: 'src', number: undefined },
  ],
])('a link that %s is written as it is', (_what, address, over) => {
  expect(link(address, over)).toEqual({ url: address, link: address });
});

test('a link without a token is not counted', () => {
  const url = 'https://a.example?utm_source=news';
  const own = { rendered: 'https://a.example', start: '', attribute: 'href', number: 1 };
  expect(write(own, { token: '', systemUrls: [] })).toEqual({ url, link: url });
});

test('a script leads nowhere', () => {
  expect(link('javascript:alert(1)').link).toBe('#');
  expect(link('java&#115;cript:alert(1)').link).toBe('#');
});

test('many outputs in one address find their number among many links', () => {
  const source = '<a href="{{ b }}"></a>'.repeat(3_000);
  const { numbers } = numberLinks(source, links);
  expect(numbers.ranges).toHaveLength(2_000);
  const begins = Array.from({ length: 100_000 }, () => source.length);
  expect(cpuMs(() => numberByOutput(numbers, begins))).toBeLessThan(500);
});
