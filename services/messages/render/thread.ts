import { Worker } from 'node:worker_threads';
import type { RenderedParts } from './compose.ts';
import type { Scope } from './liquid.ts';
import type { SlowSource } from './program.ts';
import type { RenderAnswer } from './worker.ts';

/** A mail that takes longer is a mistake or an attack; MJML needs about 10 ms. */
const timeLimitMs = 2_000;
/** The first message of its kind waits for the modules to load as well; MJML's are many. */
const startLimitMs = 10_000;
const memoryLimitMb = 256;
/** After so many kills the template is not tried again: each one has cost its full time. */
const killLimit = 3;

/** Renders slow templates one after the other in a thread that is killed when one takes too long. */
export class RenderThread {
  #worker: Worker | undefined;
  /** Kinds of source that this thread has rendered before. */
  readonly #warm = new Set<'mjml' | 'html'>();
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
    const kind = source.mjml === '' ? 'html' : 'mjml';
    const worker = this.#start();
    const limitMs = this.#warm.has(kind) ? timeLimitMs : startLimitMs;
    const answer = await this.#ask(worker, { source, scope }, limitMs);
    if (answer === undefined) {
      this.#kills.set(source, kills + 1);
      throw new Error('the template takes too long to render');
    }
    this.#warm.add(kind);
    if ('error' in answer) throw new Error(answer.error);
    return answer.parts;
  }

  #start(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(new URL('./worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: memoryLimitMb },
    });
    worker.unref();
    // A thread that dies must not bring the process down with it; whoever waits sees its exit.
    worker.on('error', () => undefined);
    this.#worker = worker;
    this.#warm.clear();
    return worker;
  }

  /** The answer, or undefined if the thread was killed or died. */
  #ask(worker: Worker, request: object, limitMs: number): Promise<RenderAnswer | undefined> {
    return new Promise((resolve) => {
      const finish = (answer: RenderAnswer | undefined) => {
        clearTimeout(timer);
        worker.off('message', finish);
        worker.off('exit', lose);
        if (answer === undefined) {
          this.#worker = undefined;
          void worker.terminate();
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
}
