import { randomFrom, shuffled } from '../schedule.ts';

export type Fault = {
  afterMs: number;
  /** The process that is killed: one of the stack, or `endpoint`. */
  name: string;
  /** How long the endpoint stays away; the supervisor starts the others again at once. */
  forMs: number;
};

const awayMinMs = 1_000;
const awayMaxMs = 8_000;
const names = ['webhooks', 'webhooks-worker', 'temporal', 'postgres', 'endpoint'];

/**
 * The kills and their times; the same for the same seed. Each process is killed once before any is
 * killed again.
 */
export function makeWebhookKills({
  seed,
  kills,
  everyMs,
}: Record<'seed' | 'kills' | 'everyMs', number>) {
  const random = randomFrom(seed);
  const queue: string[] = [];
  let afterMs = 0;
  return Array.from({ length: kills }, (): Fault => {
    afterMs += everyMs * (0.5 + random());
    if (queue.length === 0) queue.push(...shuffled(names, random));
    const name = queue.shift() ?? 'webhooks';
    const forMs = name === 'endpoint' ? awayMinMs + random() * (awayMaxMs - awayMinMs) : 0;
    return { afterMs, name, forMs };
  });
}
