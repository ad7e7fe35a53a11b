export type Fault = {
  afterMs: number;
  deed: 'kill' | 'freeze';
  name: string;
  /** How long a frozen process stays so. */
  forMs: number;
};

export type ScheduleOptions = { seed: number; faults: number; everyMs: number; freezeMs: number };

const replicas = ['messages', 'messages-2'];
const targets = [
  'gateway',
  'workspaces',
  'contacts',
  'templates',
  'broadcasts',
  'broadcasts-worker',
  'temporal',
  'postgres',
  ...replicas,
];

/** Which processes are killed and frozen, and when; the same for the same seed. */
export function makeSchedule(options: ScheduleOptions): Fault[] {
  const random = randomFrom(options.seed);
  const pick = <T>(from: readonly T[]): T => {
    const found = from[Math.floor(random() * from.length)];
    if (found === undefined) throw new Error('there is nothing to pick from');
    return found;
  };
  const { faults, everyMs, freezeMs } = options;
  const frozen = pick(replicas);
  const freezeAt = freezeMs > 0 ? Math.floor(random() * Math.max(1, faults / 3)) : -1;
  const queue: string[] = [];
  const schedule: Fault[] = [];
  let atMs = 0;
  let thawAtMs = 0;
  for (let index = 0; index < faults; index += 1) {
    atMs += everyMs * (0.5 + random());
    if (index === freezeAt) {
      schedule.push({ afterMs: atMs, deed: 'freeze', name: frozen, forMs: freezeMs });
      thawAtMs = atMs + freezeMs;
      continue;
    }
    // Everybody has a turn before anybody has a second one.
    if (queue.length === 0) queue.push(...shuffled(targets, random));
    let name = queue.shift() ?? pick(targets);
    if (name === frozen && atMs < thawAtMs) name = 'broadcasts-worker';
    schedule.push({ afterMs: atMs, deed: 'kill', name, forMs: 0 });
  }
  return schedule;
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item);
}

/** Mulberry32: small, and the same everywhere. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
