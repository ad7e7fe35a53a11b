import { expect, test } from '@jest/globals';
import { runRelayChaos } from '../chaos/relay/chaos.ts';
import { borrowedStack } from '../stack/shared.ts';

const stack = borrowedStack();

const kill = (name: string, afterMs: number) =>
  ({ afterMs, action: 'kill', name, forMs: 0 }) as const;

test('each mail that the relay has answered with 250 arrives, whatever is killed, and one with a key is one message', async () => {
  const names = ['relay', 'messages', 'relay', 'messages-2', 'messages'];
  const report = await runRelayChaos(stack, {
    perSecond: 100,
    forMs: 6_000,
    schedule: names.map((name, index) => kill(name, 800 + index * 1_100)),
    settleMsMax: 120_000,
    say: () => undefined,
  });
  expect(report).toMatchObject({ accepted: 600, lost: 0, kills: 5, problems: [] });
}, 300_000);
