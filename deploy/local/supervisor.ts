import { setTimeout as sleep } from 'node:timers/promises';

export type RunningPart = {
  pid: number;
  /** Settles when the process has ended, for whatever reason. */
  exited: Promise<unknown>;
  stop(): Promise<void>;
};

export type StartOptions = {
  log: (text: string) => void;
  /** Called with the process at once, before it is ready. */
  spawned: (pid: number) => void;
  signal: AbortSignal;
};

/** One process of the stack. */
export type StackPart = { name: string; start(options: StartOptions): Promise<RunningPart> };

export type SupervisorOptions = {
  logFor(name: string): (text: string) => void;
  /** Called when a process starts or restarts. */
  changed(pids: ReadonlyMap<string, number>): void;
  /** Called with a line for the terminal. */
  say(line: string): void;
};

export type Supervisor = {
  /** Starts a part and from then on restarts it; rejects if it can't be started at first. */
  start(part: StackPart): Promise<void>;
  /** Stops these parts in parallel, for good. */
  stop(names: string[]): Promise<void>;
  /** Starts no other part from now on: one that begins behind a stop would be left running. */
  close(): void;
};

const firstAttemptsMax = 3;
const restartWaitsMs = [0, 250, 500, 1_000, 2_000, 5_000];
/** After this long the delay of restarts begins from its minimum again. */
const steadyMs = 10_000;

type Watch = { stopping: AbortController; running?: RunningPart; done: Promise<void> };

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const pids = new Map<string, number>();
  const watches = new Map<string, Watch>();
  let isClosed = false;

  async function startOnce(part: StackPart, watch: Watch): Promise<RunningPart> {
    const running = await part.start({
      log: options.logFor(part.name),
      signal: watch.stopping.signal,
      spawned: (pid) => note(part.name, pid),
    });
    watch.running = running;
    note(part.name, running.pid);
    return running;
  }

  function note(name: string, pid: number): void {
    if (pids.get(name) === pid) return;
    pids.set(name, pid);
    tell();
  }

  /** A full disk, on which no list of processes can be written, must leave none of them alone. */
  function tell(): void {
    try {
      options.changed(pids);
    } catch (error) {
      options.say(
        `the list of processes was not written: ${error instanceof Error ? error.message : error}`,
      );
    }
  }

  /** Keeps the part running until it is stopped. */
  async function keep(part: StackPart, watch: Watch): Promise<void> {
    let failures = 0;
    let since = Date.now();
    const { signal } = watch.stopping;
    while (watch.running) {
      // The stop that came meanwhile waits for this to return, and ends the process then.
      if (signal.aborted) return;
      await watch.running.exited;
      if (signal.aborted) return;
      if (Date.now() - since > steadyMs) failures = 0;
      options.say(`${part.name} ended; starting it again`);
      watch.running = undefined;
      while (!watch.running && !signal.aborted) {
        await sleep(restartWait(failures++), undefined, { signal }).catch(() => {});
        if (signal.aborted) return;
        await startOnce(part, watch).catch(() => {});
      }
      since = Date.now();
      if (!signal.aborted) options.say(`${part.name} runs again`);
    }
  }

  return {
    async start(part) {
      if (isClosed) throw new Error(`${part.name} is not started, since the stack stops`);
      const watch: Watch = { stopping: new AbortController(), done: Promise.resolve() };
      watches.set(part.name, watch);
      const first = startAtFirst(() => startOnce(part, watch), part.name, watch.stopping.signal);
      // A stop during the attempt waits for its end, whatever its result.
      watch.done = first.then(
        () => keep(part, watch),
        () => {},
      );
      await first;
    },
    async stop(names) {
      const stops = names.map(async (name) => {
        const watch = watches.get(name);
        watch?.stopping.abort();
        await watch?.running?.stop();
        await watch?.done;
        // A process that became ready in between has to be stopped as well.
        await watch?.running?.stop();
        if (pids.delete(name)) tell();
      });
      await Promise.all(stops);
    },
    close() {
      isClosed = true;
    },
  };
}

async function startAtFirst(
  start: () => Promise<RunningPart>,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await start();
      return;
    } catch (error) {
      if (attempt === firstAttemptsMax || signal.aborted) {
        throw new Error(`${name} ${error instanceof Error ? error.message : error}`);
      }
      await sleep(restartWait(attempt));
    }
  }
}

function restartWait(failures: number): number {
  return restartWaitsMs[Math.min(failures, restartWaitsMs.length - 1)] ?? 0;
}
