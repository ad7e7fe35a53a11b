import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { expect, test } from '@jest/globals';
import { ImportContactsRequestSchema } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { turnsDuring } from '../../test/stack/turns.ts';
import { fromBinaryInTurns, toBinaryInTurns } from './in-turns.ts';

const large = create(ImportContactsRequestSchema, {
  workspaceId: 'w',
  contacts: Array.from({ length: 3_001 }, (_, number) => ({
    email: `reader${number}@example.com`,
    firstName: 'x'.repeat(100),
    customJson1: { number, more: [true, null] },
  })),
  subscribeToLists: ['news', 'offers'],
});

test('a large message is written and read as others are, and others have turns meanwhile', async () => {
  const whole = toBinary(ImportContactsRequestSchema, large);
  let written: Uint8Array = new Uint8Array();
  const write = async () => {
    written = await toBinaryInTurns(ImportContactsRequestSchema, large);
  };
  expect(await turnsDuring(write)).toBeGreaterThan(10);
  expect(fromBinary(ImportContactsRequestSchema, written)).toEqual(large);
  let read = create(ImportContactsRequestSchema);
  const readAll = async () => {
    read = await fromBinaryInTurns(ImportContactsRequestSchema, whole);
  };
  expect(await turnsDuring(readAll)).toBeGreaterThan(3);
  expect(read).toEqual(large);
});

test('a small message is as it was', async () => {
  const small = create(ImportContactsRequestSchema, {
    workspaceId: 'w',
    contacts: [{ email: 'a' }],
  });
  const bytes = await toBinaryInTurns(ImportContactsRequestSchema, small);
  expect(await fromBinaryInTurns(ImportContactsRequestSchema, bytes)).toEqual(small);
});

test('a large message that is cut off or broken cannot be read', async () => {
  const bytes = toBinary(ImportContactsRequestSchema, large);
  for (const broken of [bytes.subarray(0, -3), new Uint8Array(200_000).fill(255)]) {
    await expect(fromBinaryInTurns(ImportContactsRequestSchema, broken)).rejects.toThrow();
  }
});

test('others have a turn after each of a few large items', async () => {
  const few = create(ImportContactsRequestSchema, {
    contacts: Array.from({ length: 10 }, (_, number) => ({
      email: `${number}`,
      firstName: 'x'.repeat(100_000),
    })),
  });
  const write = () => toBinaryInTurns(ImportContactsRequestSchema, few);
  expect(await turnsDuring(write)).toBeGreaterThanOrEqual(10);
  expect(fromBinary(ImportContactsRequestSchema, await write())).toEqual(few);
});
