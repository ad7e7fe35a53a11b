import { Worker } from 'node:worker_threads';
import type { RenderedParts } from './compose.ts';
import type { Scope } from './liquid.ts';
import type { SlowSource } from './program.ts';
import type { RenderAnswer } from './worker.ts';

/** A mail that takes longer is a mistake or an attack; MJML needs about 10 ms. */
const timeLimitMs = 2_000;
/** The first message of a thread waits for the modules to load as well. */
const startLimitMs = 10_000;
const memoryLimitMb = 256;
/** After so many kills the template is not tried again: each one has cost its full time. */
const killLimit = 3;

/** Renders slow templates one after the other in a thread that is killed when one takes too long. */
export class RenderThread {
  #worker: Worker | undefined;
  #isWarm = false;
  #queue: Promise<unknown> = Promise.resolve();
  readonly #kills = new WeakMap<SlowSource, number>();

  /** Throws an error with the reason if the message can't be rendered. */
  render(source: SlowSource, scope: Scope): Promise<RenderedParts> {
    const turn = this.#queue.then(() => this.#renderNow(source, scope));
    this.#queue = turn.catch(() => undefined);
    return turn;
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
    this.#worker = undefined;
  }

  async #renderNow(source: SlowSource, scope: Scope): Promise<RenderedParts> {
    const kills = this.#kills.get(source) ?? 0;
    if (kills >= killLimit) throw new Error('the template takes too long to render');
    const answer = await this.#ask(this.#start(), { source, scope });
    if (answer === undefined) {
      this.#kills.set(source, kills + 1);
      throw new Error('the template takes too long to render');
    }
    if ('error' in answer) throw new Error(answer.error);
    return answer.parts;
  }

  #start(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(new URL('./worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: memoryLimitMb },
    });
    worker.unref();
    this.#worker = worker;
    this.#isWarm = false;
    return worker;
  }

  /** The answer, or undefined if the thread was killed or died. */
  #ask(worker: Worker, request: object): Promise<RenderAnswer | undefined> {
    return new Promise((resolve) => {
      const finish = (answer: RenderAnswer | undefined) => {
        clearTimeout(timer);
        worker.removeAllListeners();
        // A thread that has died must not bring the process down with it.
        worker.on('error', () => undefined);
        if (answer === undefined) {
          this.#worker = undefined;
          void worker.terminate();
        }
        resolve(answer);
      };
      const timer = setTimeout(finish, this.#isWarm ? timeLimitMs : startLimitMs, undefined);
      this.#isWarm = true;
      worker.once('message', finish);
      worker.once('error', () => finish(undefined));
      worker.once('exit', () => finish(undefined));
      worker.postMessage(request);
    });
  }
}
