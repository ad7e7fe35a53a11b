import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../deploy/local/ports.ts';
import type { Arrival } from './receiver-process.ts';

export type { Arrival };

const pollMs = 100;
/** After this long without a delivery, none is expected any more. */
const idleMsMax = 45_000;

export type Receiver = {
  pid: number;
  good: string;
  /** Never answers. */
  silent: string;
  /** Nobody listens there. */
  refusing: string;
  /** Deliveries since the last call. */
  take(): Promise<Arrival[]>;
  /** Waits for the first arrivals of `count` deliveries; `twice` counts repeats. */
  takeAll(count: number): Promise<{ arrivals: Arrival[]; twice: number }>;
  stop(): void;
};

export async function startReceiver(): Promise<Receiver> {
  const child = fork(join(import.meta.dirname, 'receiver-process.ts'), {
    serialization: 'advanced',
  });
  const [ports] = (await once(child, 'message')) as [{ good: number; silent: number }];
  const urlOf = (port: number) => `http://127.0.0.1:${port}/hook`;
  const take = async (): Promise<Arrival[]> => {
    const answer = once(child, 'message');
    child.send('take');
    const [arrivals] = await answer;
    return arrivals;
  };
  return {
    pid: child.pid ?? 0,
    good: urlOf(ports.good),
    silent: urlOf(ports.silent),
    refusing: urlOf(await freePort()),
    take,
    takeAll: (count) => takeAll(take, count),
    stop: () => child.disconnect(),
  };
}

async function takeAll(take: Receiver['take'], count: number) {
  const first = new Map<string, Arrival>();
  let twice = 0;
  let lastNewMs = Date.now();
  while (first.size < count) {
    const came = await take();
    for (const arrival of came) {
      if (first.has(arrival.id)) twice += 1;
      else first.set(arrival.id, arrival);
    }
    if (came.length > 0) lastNewMs = Date.now();
    if (Date.now() - lastNewMs > idleMsMax) break;
    await sleep(pollMs);
  }
  return { arrivals: [...first.values()], twice };
}
