import { expect, test } from '@jest/globals';
import { metadataOf, ReceivedHeaders } from './received-headers.ts';

const received = { ':path': '/', 'x-one': '1', 'x-two': '2', 'set-cookie': ['a=1', 'b=2'] };
const given = () => new ReceivedHeaders(Object.assign(Object.create(null), received));
/** `Headers` of the same. */
const plain = () =>
  new Headers([
    ['x-one', '1'],
    ['x-two', '2'],
    ['set-cookie', 'a=1,b=2'],
  ]);

const uses: Record<string, (headers: Headers) => unknown> = {
  get: (headers) => ['X-One', 'x-two', 'set-cookie', 'none'].map((name) => headers.get(name)),
  has: (headers) => ['X-One', 'none', 'constructor'].map((name) => headers.has(name)),
  set: (headers) => [headers.set('X-One', '3'), headers.get('x-one'), headers.get('x-two')],
  append: (headers) => [headers.append('x-one', '3'), headers.get('x-one')],
  delete: (headers) => [headers.delete('x-one'), headers.has('x-one'), headers.has('x-two')],
  getSetCookie: (headers) => headers.getSetCookie(),
  forEach: (headers) => {
    const seen: string[] = [];
    headers.forEach((value, name) => {
      seen.push(name, value);
    });
    return seen;
  },
  entries: (headers) => [...headers.entries()],
  keys: (headers) => [...headers.keys()],
  values: (headers) => [...headers.values()],
  'an iterator': (headers) => [...headers],
  'a copy': (headers) => [...new Headers(headers)],
  'a fetched request': (headers) => [...new Request('http://127.0.0.1', { headers }).headers],
};

test.each(Object.entries(uses))('%s of received headers is that of others', (_, use) => {
  expect(use(given())).toEqual(use(plain()));
});

test('pseudo-headers are none of them, before they are copied and after', () => {
  const headers = given();
  expect([headers.get(':path'), headers.has(':path')]).toEqual([null, false]);
  expect([...headers.keys()]).not.toContain(':path');
});

test('the metadata of an answer has its trailers apart', () => {
  const [header, trailer] = metadataOf({ 'x-one': '1', 'trailer-x-two': '2' });
  expect([[...header], [...trailer]]).toEqual([[['x-one', '1']], [['x-two', '2']]]);
  const [only, none] = metadataOf({ 'x-one': '1' });
  expect([only.get('x-one'), [...none]]).toEqual(['1', []]);
});
