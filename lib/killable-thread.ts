import { Worker } from 'node:worker_threads';
import { FairQueue } from './collections/fair-queue.ts';

type Limits<Request> = {
  /**
   * Processor time of a request: what others take from a busy machine is not its fault. Waiting for
   * it has a limit, too.
   */
  timeMs: number;
  /** The same for the first request of its kind in a new thread, which also loads its modules. */
  startMs: number;
  memoryMb: number;
  /** Requests that may wait; more are refused. */
  waitingMax: number;
  /** Requests of one tenant that may wait. */
  tenantWaitingMax?: number;
  /**
   * By the kind of a first answer: harmless requests by kind, which a spare thread then answers in
   * advance. No spare is kept without them.
   */
  warmUps?: Readonly<Record<string, Readonly<Record<string, Request>>>>;
};

type AskOptions = {
  kind?: string;
  /** Tenants take turns. */
  tenant?: string;
  /** Drops the request if it still waits. */
  signal?: AbortSignal | undefined;
};

/** A request may last this many times its processor time before it is given up. */
const waitFactor = 4;
/**
 * At its limit V8 gives a thread 16 MiB more to end in. One collection that moves more than that
 * out of a young generation of the default size ends the whole process.
 */
const maxYoungGenerationSizeMb = 12;
/** Shorter waits would cost more than they tell about the time used. */
const lookEveryMsMin = 5;

const closed = 'the thread is closed';

export class ThreadBusyError extends Error {
  override name = 'ThreadBusyError';
}

/**
 * Answers requests one after the other in a thread, and kills the thread when one takes too long or
 * too much memory, so that the process is not affected. A warm spare takes its place.
 */
export class KillableThread<Request, Answer> {
  #thread: Thread<Request, Answer> | undefined;
  #spare: Thread<Request, Answer> | undefined;
  #isClosed = false;
  #isRunning = false;
  /** With the one that is being answered. */
  #waiting = 0;
  readonly #queue = new FairQueue<() => Promise<void>>();
  readonly #script: URL;
  readonly #limits: Limits<Request>;

  constructor(script: URL, limits: Limits<Request>) {
    this.#script = script;
    this.#limits = limits;
  }

  /**
   * The answer; undefined if the thread was killed because of it. The request is created when its
   * turn comes. The first one of each kind has the longer limit.
   */
  ask(request: () => Request, asked: AskOptions = {}): Promise<Answer | undefined> {
    const { kind = '', tenant = '', signal } = asked;
    const { waitingMax, tenantWaitingMax = waitingMax } = this.#limits;
    if (this.#isClosed) throw new ThreadBusyError(closed);
    if (this.#waiting >= waitingMax || this.#queue.sizeOf(tenant) >= tenantWaitingMax)
      throw new ThreadBusyError('too many requests wait');
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Answer | undefined>();
    const turn = async () => {
      signal?.removeEventListener('abort', drop);
      await this.#askNow(request, kind).then(resolve, reject);
      this.#waiting -= 1;
    };
    const drop = () => {
      if (!this.#queue.remove(tenant, turn)) return;
      this.#waiting -= 1;
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', drop, { once: true });
    this.#queue.add(tenant, turn);
    this.#waiting += 1;
    if (!this.#isRunning) void this.#run();
    return promise;
  }

  /** Requests that have no answer yet fail with a ThreadBusyError. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const threads = [this.#thread, this.#spare];
    this.#thread = undefined;
    this.#spare = undefined;
    await Promise.all(threads.map((thread) => thread?.close()));
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    // So that requests of one moment are in the queue before the first is taken.
    await Promise.resolve();
    for (let turn = this.#queue.take(); turn; turn = this.#queue.take()) await turn.item();
    this.#isRunning = false;
  }

  async #askNow(request: () => Request, kind: string): Promise<Answer | undefined> {
    if (this.#isClosed) throw new ThreadBusyError(closed);
    const made = request();
    const thread = this.#thread ?? (await this.#takeSpare()) ?? this.#newThread();
    if (this.#isClosed) {
      await thread.close();
      throw new ThreadBusyError(closed);
    }
    this.#thread = thread;
    const answer = await thread.ask(made, kind);
    if (answer === undefined && this.#isClosed) throw new ThreadBusyError(closed);
    if (answer !== undefined) this.#warmSpare(kind);
    else if (this.#thread === thread) this.#thread = undefined;
    return answer;
  }

  async #takeSpare(): Promise<Thread<Request, Answer> | undefined> {
    const spare = this.#spare;
    this.#spare = undefined;
    await spare?.settled;
    return spare?.isAlive ? spare : undefined;
  }

  /** The spare learns each kind that was asked for, so that it is ready when it is needed. */
  #warmSpare(kind: string): void {
    const warmUps = Object.entries(this.#limits.warmUps?.[kind] ?? {});
    if (warmUps.length === 0 || this.#isClosed) return;
    if (!this.#spare?.isAlive) this.#spare = this.#newThread();
    for (const [known, request] of warmUps) {
      if (!this.#spare.knows(known)) void this.#spare.ask(request, known);
    }
  }

  #newThread(): Thread<Request, Answer> {
    return new Thread<Request, Answer>(this.#script, this.#limits);
  }
}

/** One thread; requests follow each other. */
class Thread<Request, Answer> {
  isAlive = true;
  /** Kinds of request that it has answered, or is about to. */
  readonly #known = new Set<string>();
  readonly #warm = new Set<string>();
  readonly #worker: Worker;
  readonly #limits: Limits<Request>;
  #last: Promise<unknown> = Promise.resolve();

  constructor(script: URL, limits: Limits<Request>) {
    this.#limits = limits;
    this.#worker = new Worker(script, {
      resourceLimits: { maxOldGenerationSizeMb: limits.memoryMb, maxYoungGenerationSizeMb },
    });
    this.#worker.unref();
    // An unhandled error would end the process. The waiting request ends by the thread's exit.
    this.#worker.on('error', () => undefined);
    this.#worker.once('exit', () => {
      this.isAlive = false;
    });
  }

  /** Resolves when all that it was asked is answered. */
  get settled(): Promise<unknown> {
    return this.#last;
  }

  knows(kind: string): boolean {
    return this.#known.has(kind);
  }

  ask(request: Request, kind: string): Promise<Answer | undefined> {
    this.#known.add(kind);
    const answer = this.#last.then(() => this.#askNow(request, kind));
    this.#last = answer;
    return answer;
  }

  async close(): Promise<void> {
    this.isAlive = false;
    await this.#worker.terminate();
  }

  #askNow(request: Request, kind: string): Promise<Answer | undefined> {
    if (!this.isAlive) return Promise.resolve(undefined);
    const worker = this.#worker;
    const limitMs = this.#warm.has(kind) ? this.#limits.timeMs : this.#limits.startMs;
    return new Promise((resolve) => {
      const finish = (answer: Answer | undefined) => {
        stopWatch();
        worker.off('message', finish);
        worker.off('exit', lose);
        if (answer === undefined) void this.close();
        else this.#warm.add(kind);
        resolve(answer);
      };
      const lose = () => finish(undefined);
      const stopWatch = whenUsedUp(worker, limitMs, lose);
      worker.once('message', finish);
      worker.once('exit', lose);
      worker.postMessage(request);
    });
  }
}

/**
 * Calls `tell` once the thread has used `limitMs` of processor time from now on. The function
 * returned ends the watch.
 */
function whenUsedUp(worker: Worker, limitMs: number, tell: () => void): () => void {
  let givenUpAtMs = performance.now() + limitMs * waitFactor;
  const before = processorMs(worker);
  let timer: NodeJS.Timeout;
  let isOver = false;
  let lookAtMs = 0;
  const look = async () => {
    // This process stood still for that long, and its thread with it.
    givenUpAtMs += performance.now() - lookAtMs;
    const usedMs = (await processorMs(worker)) - (await before);
    const leftMs = Math.min(limitMs - usedMs, givenUpAtMs - performance.now());
    if (isOver) return;
    if (leftMs < lookEveryMsMin) tell();
    else wait(leftMs);
  };
  const wait = (ms: number) => {
    lookAtMs = performance.now() + ms;
    timer = setTimeout(look, ms);
  };
  wait(limitMs);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

/** None of a thread that is still starting, or has ended. */
async function processorMs(worker: Worker): Promise<number> {
  const { user, system } = await worker.cpuUsage().catch(() => ({ user: 0, system: 0 }));
  return (user + system) / 1_000;
}
