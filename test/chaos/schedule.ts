export type Fault = {
  afterMs: number;
  /**
   * Of a process: `kill`, `freeze`. Of the database as messages sees it: `cut`, `exhaust`,
   * `poison`.
   */
  action: 'kill' | 'freeze' | 'cut' | 'exhaust' | 'poison';
  name: string;
  /** Duration; 0 for a momentary fault. */
  forMs: number;
};

/** A fault as it happened. */
export type Happened = Fault & {
  /** Connections to the mail server at that moment, of all replicas. */
  connections: number;
};

export type ScheduleOptions = {
  seed: number;
  faults: number;
  everyMs: number;
  /** How long one replica of messages is frozen, once; 0 for never. */
  freezeMs: number;
  /** Spares messages itself. */
  sendersLive: boolean;
};

type Trouble = Omit<Fault, 'afterMs'>;

const replicas = ['messages', 'messages-2'];
const kill = (name: string): Trouble => ({ action: 'kill', name, forMs: 0 });
const others: Trouble[] = [
  ...['gateway', 'workspaces', 'contacts', 'templates', 'broadcasts', 'broadcasts-worker'].map(
    kill,
  ),
  kill('temporal'),
  kill('postgres'),
  // Shorter than a lease less the time between renewals, so that no lease is lost.
  { action: 'freeze', name: 'postgres', forMs: 15_000 },
  { action: 'cut', name: 'postgres', forMs: 0 },
  { action: 'exhaust', name: 'postgres', forMs: 8_000 },
  { action: 'poison', name: 'postgres', forMs: 4_000 },
];

/** Which processes are killed and frozen, and when; the same for the same seed. */
export function makeSchedule(options: ScheduleOptions): Fault[] {
  const random = randomFrom(options.seed);
  const pick = <T>(from: readonly T[]): T => {
    const found = from[Math.floor(random() * from.length)];
    if (found === undefined) throw new Error('there is nothing to pick from');
    return found;
  };
  const { faults, everyMs, freezeMs, sendersLive } = options;
  const troubles = sendersLive ? others : [...others, ...replicas.map(kill)];
  const frozen = pick(replicas);
  const freezeAt =
    freezeMs > 0 && !sendersLive ? Math.floor(random() * Math.max(1, faults / 3)) : -1;
  const queue: Trouble[] = [];
  const schedule: Fault[] = [];
  let atMs = 0;
  let thawAtMs = 0;
  for (let index = 0; index < faults; index += 1) {
    atMs += everyMs * (0.5 + random());
    if (index === freezeAt) {
      schedule.push({ afterMs: atMs, action: 'freeze', name: frozen, forMs: freezeMs });
      thawAtMs = atMs + freezeMs;
      continue;
    }
    // Every fault happens once before any happens twice.
    if (queue.length === 0) queue.push(...shuffled(troubles, random));
    let trouble = queue.shift() ?? pick(troubles);
    if (trouble.name === frozen && atMs < thawAtMs) trouble = kill('broadcasts-worker');
    schedule.push({ afterMs: atMs, ...trouble });
    // One fault of the database at a time: a later one would end it.
    if (trouble.name === 'postgres') atMs += trouble.forMs;
  }
  return schedule;
}

/** Kills of messages at random moments, and nothing else. */
export function makeKills({ seed, kills, everyMs }: Kills): Fault[] {
  const random = randomFrom(seed);
  let afterMs = 0;
  return Array.from({ length: kills }, () => {
    afterMs += everyMs * (0.5 + random());
    const name = random() < 0.5 ? 'messages' : 'messages-2';
    return { afterMs, ...kill(name) };
  });
}

export type Kills = { seed: number; kills: number; everyMs: number };

/** Kills of each of some processes before any is killed again; one may be named several times. */
export function makeKillsInTurn(
  names: readonly string[],
  { seed, kills, everyMs }: Kills,
): Fault[] {
  const random = randomFrom(seed);
  const queue: string[] = [];
  let afterMs = 0;
  return Array.from({ length: kills }, () => {
    afterMs += everyMs * (0.5 + random());
    if (queue.length === 0) queue.push(...shuffled(names, random));
    return { afterMs, ...kill(queue.shift() ?? '') };
  });
}

export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item);
}

/** Mulberry32: small, and the same everywhere. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
