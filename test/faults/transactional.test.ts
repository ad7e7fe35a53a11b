import { expect, test } from '@jest/globals';
import { runTransactionalChaos } from '../chaos/transactional/chaos.ts';
import { borrowedStack } from '../stack/shared.ts';

const stack = borrowedStack();

const kill = (name: string, afterMs: number) =>
  ({ afterMs, action: 'kill', name, forMs: 0 }) as const;

test('transactional mail is lost in no kill, and a caller that repeats causes one message', async () => {
  const names = ['messages', 'gateway', 'messages-2', 'contacts', 'postgres'];
  const report = await runTransactionalChaos(stack, {
    perSecond: 30,
    forMs: 10_000,
    schedule: names.map((name, index) => kill(name, 1_000 + index * 1_800)),
    settleMsMax: 100_000,
    say: () => undefined,
  });
  expect(report).toMatchObject({ accepted: 300, lost: 0, problems: [] });
}, 150_000);
