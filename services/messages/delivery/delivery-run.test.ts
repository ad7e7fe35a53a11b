import { afterEach, expect, jest, test } from '@jest/globals';
import { LoopTurn } from '#lib/limits/turns.ts';
import { batchOf, people, useService } from '../test/given.ts';

const given = useService();
const isOver = Object.getOwnPropertyDescriptor(LoopTurn.prototype, 'isOver') ?? {};
afterEach(() => {
  Object.defineProperty(LoopTurn.prototype, 'isOver', isOver);
});

test('messages that take long to prepare go out while others are prepared, each once', async () => {
  // The structure of the mail is compiled.
  const batch = batchOf(people(61));
  await given.sender.sendBatch({ ...batch, emails: ['first@example.com'] });
  Object.defineProperty(LoopTurn.prototype, 'isOver', { configurable: true, get: () => true });
  let before = 0;
  const next = jest.spyOn(LoopTurn.prototype, 'next').mockImplementation(async () => {
    if (given.sink.total() > 1) before += 1;
    await new Promise((done) => setTimeout(done, 5));
  });
  expect(await given.sender.sendBatch(batch)).toMatchObject({ sent: 61 });
  expect(given.sink.total()).toBe(62);
  expect(before).toBeGreaterThan(0);
  next.mockRestore();
});
