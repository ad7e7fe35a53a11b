import { create, toBinary } from '@bufbuild/protobuf';
import { expect, test } from '@jest/globals';
import { SendTransactionalRequestSchema } from '#gen/postrider/messages/v1/transactional_pb.ts';
import { sorted } from './sorted.ts';

const schema = SendTransactionalRequestSchema;

type Given = {
  data: object;
  headers: Record<string, string>;
  paths: string[];
  cc?: string[];
};

const bytesOf = ({ data, headers, paths, cc = ['a@x.example', 'b@x.example'] }: Given) => {
  const request = create(schema, {
    workspaceId: 'w1',
    notification: {
      id: 'receipt',
      contact: { email: 'ada@example.com', nullFields: { paths } },
      data: data as never,
      emailOptions: { headers, cc },
    },
  });
  return Buffer.from(toBinary(schema, sorted(schema, request))).toString('hex');
};

const one = {
  data: { a: 1, b: { x: [{ p: 1, q: 2 }], y: null } },
  headers: { 'X-A': '1', 'X-B': '2' },
  paths: ['first_name', 'last_name'],
};

test('requests that differ in the order of keys have the same bytes', () => {
  const other = {
    data: { b: { y: null, x: [{ q: 2, p: 1 }] }, a: 1 },
    headers: { 'X-B': '2', 'X-A': '1' },
    paths: ['last_name', 'first_name'],
  };
  expect(bytesOf(other)).toBe(bytesOf(one));
});

test.each([
  ['a value', { ...one, data: { a: 2, b: { x: [{ p: 1, q: 2 }], y: null } } }],
  ['a key', { ...one, data: { a: 1, c: { x: [{ p: 1, q: 2 }], y: null } } }],
  ['the order of an array', { ...one, cc: ['b@x.example', 'a@x.example'] }],
  ['a header', { ...one, headers: { 'X-A': '2', 'X-B': '1' } }],
])('requests that differ in %s have other bytes', (_, other) => {
  expect(bytesOf(other)).not.toBe(bytesOf(one));
});

test('a request whose keys are sorted keeps its bytes', () => {
  const request = create(schema, {
    workspaceId: 'w1',
    notification: { id: 'n', data: { a: 1, b: '' } },
  });
  expect(toBinary(schema, sorted(schema, request))).toEqual(toBinary(schema, request));
});
