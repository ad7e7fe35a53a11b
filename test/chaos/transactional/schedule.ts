import { type Fault, randomFrom, shuffled } from '../schedule.ts';

/** `messages` comes twice as often as the others, since only its kills can make repeats. */
const names = [
  'messages',
  'messages-2',
  'messages',
  'messages-2',
  'gateway',
  'contacts',
  'postgres',
  'templates',
  'workspaces',
];

/** The kills and their times; the same for the same seed. */
export function makeTransactionalKills({
  seed,
  kills,
  everyMs,
}: Record<'seed' | 'kills' | 'everyMs', number>): Fault[] {
  const random = randomFrom(seed);
  const queue: string[] = [];
  let afterMs = 0;
  return Array.from({ length: kills }, () => {
    afterMs += everyMs * (0.5 + random());
    if (queue.length === 0) queue.push(...shuffled(names, random));
    return { afterMs, action: 'kill' as const, name: queue.shift() ?? 'messages', forMs: 0 };
  });
}
