import { parseArgs } from 'node:util';
import { startBenchStack } from '../bench-stack.ts';
import { burst } from './burst.ts';
import { failing } from './failing.ts';
import { besideDead } from './neighbours.ts';
import { openLoop } from './open-loop.ts';
import { startReceiver } from './receiver.ts';

const parts = ['burst', 'loop', 'beside', 'failing'] as const;

/** Callbacks to a fast endpoint and to dead ones, everything on this machine. */
export async function benchWebhooks(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      parts: { type: 'string', default: parts.join(',') },
      events: { type: 'string', default: '10000' },
      rounds: { type: 'string', default: '3' },
      'per-second': { type: 'string', default: '300' },
      seconds: { type: 'string', default: '10' },
      'per-call': { type: 'string', default: '1' },
      'settle-seconds': { type: 'string', default: '60' },
      failing: { type: 'string', default: '100000' },
    },
  });
  const chosen = new Set(values.parts.split(','));
  const load = {
    perSecond: Number(values['per-second']),
    seconds: Number(values.seconds),
    perCall: Number(values['per-call']),
  };
  const receiver = await startReceiver();
  const stack = await startBenchStack();
  const bench = { stack, receiver };
  try {
    if (chosen.has('burst')) {
      await burst(bench, { events: Number(values.events), rounds: Number(values.rounds) });
    }
    if (chosen.has('loop')) await openLoop(bench, load);
    if (chosen.has('beside'))
      await besideDead(bench, { ...load, settleSeconds: Number(values['settle-seconds']) });
    if (chosen.has('failing'))
      await failing(bench, { events: Number(values.failing), seconds: load.seconds });
  } finally {
    await stack.stop();
    receiver.stop();
  }
}
