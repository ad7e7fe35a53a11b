import { setTimeout as sleep } from 'node:timers/promises';
import { type Fault, type Happened, randomFrom, shuffled } from '../chaos/schedule.ts';
import { restartInTurn } from '../stack/rotate.ts';
import type { TestStack } from '../stack.ts';

const killEveryMs = 60_000;

/** One kill in each minute, at a random moment of it; everything once before anything twice. */
export function makeSoakKills(seed: number, forMs: number, names: readonly string[]): Fault[] {
  const random = randomFrom(seed);
  const queue: string[] = [];
  const minutes = Math.floor(forMs / killEveryMs);
  return Array.from({ length: minutes }, (_, minute) => {
    if (queue.length === 0) queue.push(...shuffled(names, random));
    const afterMs = (minute + random()) * killEveryMs;
    return { afterMs, action: 'kill' as const, name: queue.shift() ?? 'messages', forMs: 0 };
  });
}

/** Processes that are killed: PostgreSQL and Temporal, too. */
export const killable = (names: readonly string[]): string[] =>
  names.filter((name) => !['supervisor', 'inbox'].includes(name));

/** Processes that are restarted in turn: our own, the replicas of a service one after the other. */
export const restartable = (names: readonly string[]): string[] =>
  killable(names)
    .filter((name) => !['postgres', 'temporal'].includes(name))
    .toSorted();

export type Disturbed = {
  kills: (Happened & { atMs: number })[];
  /** How long the rolling restart took; undefined if it did not come to its end. */
  restartMs: number | undefined;
};

/**
 * Kills by the schedule, with a rolling restart of everything in the middle, in which nothing is
 * killed.
 */
export async function disturb(
  stack: TestStack,
  { schedule, forMs }: { schedule: readonly Fault[]; forMs: number },
  say: (line: string) => void,
): Promise<Disturbed> {
  const startedAtMs = Date.now();
  const disturbed: Disturbed = { kills: [], restartMs: undefined };
  const middle = { afterMs: forMs / 2, name: undefined };
  const steps = [...schedule, middle].toSorted((one, other) => one.afterMs - other.afterMs);
  for (const step of steps) {
    await sleep(Math.max(0, startedAtMs + step.afterMs - Date.now()));
    if (step.name === undefined) {
      say('rolling restart of everything');
      disturbed.restartMs = await rollingRestart(stack);
      say(`everything is restarted after ${(disturbed.restartMs / 1_000).toFixed(0)} s`);
      continue;
    }
    const { connections } = await stack.sink.status();
    say(`kill -9 ${step.name}`);
    stack.processes.kill(step.name);
    disturbed.kills.push({ ...step, connections, atMs: Date.now() });
  }
  return disturbed;
}

async function rollingRestart(stack: TestStack): Promise<number> {
  const startedAtMs = Date.now();
  // The process that was killed last runs again.
  await stack.untilServing();
  const names = restartable(stack.processes.names());
  await restartInTurn(
    stack,
    names.map((name) => [name]),
  );
  return Date.now() - startedAtMs;
}
