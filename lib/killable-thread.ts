import { Worker } from 'node:worker_threads';

type Limits = {
  /** The time limit of a request. */
  timeMs: number;
  /** The time limit of the first request of its kind in a new thread, which also loads its modules. */
  startMs: number;
  memoryMb: number;
  /** Requests that may wait; more are refused. */
  waitingMax: number;
};

export class ThreadBusyError extends Error {
  override name = 'ThreadBusyError';
}

/**
 * Answers requests one after the other in a thread, and kills the thread when one takes too long or
 * too much memory, so that the process is not affected.
 */
export class KillableThread<Request, Answer> {
  #worker: Worker | undefined;
  /** Kinds of request that this thread has answered before. */
  readonly #warm = new Set<string>();
  #waiting = 0;
  #queue: Promise<unknown> = Promise.resolve();
  readonly #script: URL;
  readonly #limits: Limits;

  constructor(script: URL, limits: Limits) {
    this.#script = script;
    this.#limits = limits;
  }

  /**
   * The answer; undefined if the thread was killed because of it. The request is created when its turn comes.
   * The first one of each kind has the longer limit.
   */
  ask(request: () => Request, kind = ''): Promise<Answer | undefined> {
    if (this.#waiting >= this.#limits.waitingMax)
      throw new ThreadBusyError('too many requests wait');
    this.#waiting += 1;
    const turn = this.#queue.then(() => this.#askNow(request(), kind));
    this.#queue = turn.then(
      () => this.#end(),
      () => this.#end(),
    );
    return turn;
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  #end(): void {
    this.#waiting -= 1;
  }

  #askNow(request: Request, kind: string): Promise<Answer | undefined> {
    const worker = this.#start();
    const limitMs = this.#warm.has(kind) ? this.#limits.timeMs : this.#limits.startMs;
    return new Promise((resolve) => {
      const finish = (answer: Answer | undefined) => {
        clearTimeout(timer);
        worker.off('message', finish);
        worker.off('exit', lose);
        if (answer === undefined) {
          this.#worker = undefined;
          void worker.terminate();
        } else {
          this.#warm.add(kind);
        }
        resolve(answer);
      };
      const lose = () => finish(undefined);
      const timer = setTimeout(lose, limitMs);
      worker.once('message', finish);
      worker.once('exit', lose);
      worker.postMessage(request);
    });
  }

  #start(): Worker {
    if (this.#worker) return this.#worker;
    const worker = new Worker(this.#script, {
      resourceLimits: { maxOldGenerationSizeMb: this.#limits.memoryMb },
    });
    worker.unref();
    // An unhandled error would end the process. The waiting request ends by the thread's exit.
    worker.on('error', () => undefined);
    this.#worker = worker;
    this.#warm.clear();
    return worker;
  }
}
