import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

type Counts = { batches: number; events: number };

const pollMs = 50;
const drainMsMax = 120_000;

/** A small consumer of all events, in place of webhooks. A stack with `variables` delivers its events here. */
export async function startConsumer() {
  const secretKey = randomBytes(32).toString('hex');
  const child = fork(join(import.meta.dirname, 'consumer.ts'), {
    env: { ...process.env, SECRET_KEY: secretKey },
  });
  const [port] = await once(child, 'message');
  return {
    pid: child.pid ?? 0,
    variables: { SECRET_KEY: secretKey, WEBHOOKS_ADDR: `127.0.0.1:${port}` },
    async counts(): Promise<Counts> {
      const answer = once(child, 'message');
      child.send('counts');
      const [counts] = await answer;
      return counts;
    },
    stop: () => child.disconnect(),
  };
}

export type Consumer = Awaited<ReturnType<typeof startConsumer>>;

/** Waits until this many events have arrived in total. */
export async function untilDrained(consumer: Consumer, events: number): Promise<Counts> {
  const startedAtMs = Date.now();
  for (;;) {
    const counts = await consumer.counts();
    if (counts.events >= events) return counts;
    if (Date.now() - startedAtMs > drainMsMax) {
      throw new Error(`${counts.events} of ${events} events came`);
    }
    await sleep(pollMs);
  }
}
