import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { collectGarbage } from './collect-garbage.ts';

test('an object without a holder is gone after a collection', async () => {
  const held = new WeakRef({});
  // A reference is kept until the turn that made it is over.
  await sleep(0);
  collectGarbage();
  expect(held.deref()).toBeUndefined();
});
