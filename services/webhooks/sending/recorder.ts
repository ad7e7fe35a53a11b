import type { Log } from '#lib/log.ts';
import type { Store } from '#lib/postgres/store.ts';
import { isAboutValues, untilStored } from '#lib/postgres/until-stored.ts';
import { type AttemptResult, type Clocks, recordResults } from './results.ts';

/** Bounds a statement. */
const groupMax = 200;
const waitMaxMs = 25;
/** Bounds what a kill can send twice. */
export const unstoredMax = 2_000;
const unstorableText = 'The answer could not be stored';

export type AttemptRecorderContext = Clocks & { store: Store; log: Log };

type Entry = { result: AttemptResult; stored: () => void };

/**
 * Records what became of deliveries, in groups. They belong to the process: no result is dropped
 * while it lives.
 */
export class AttemptRecorder {
  readonly #context: AttemptRecorderContext;
  #waiting: Entry[] = [];
  #unstored = 0;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;

  constructor(context: AttemptRecorderContext) {
    this.#context = context;
  }

  /** Settles when the result is stored. */
  add(result: AttemptResult): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#unstored += 1;
    this.#waiting.push({ result, stored: resolve });
    if (this.#waiting.length >= groupMax) this.#write();
    else this.#timer ??= setTimeout(() => this.#write(), waitMaxMs);
    return promise;
  }

  get unstored(): number {
    return this.#unstored;
  }

  /** Whether so many results are not stored yet that nothing more may be claimed. */
  get isBehind(): boolean {
    return this.#unstored >= unstoredMax;
  }

  /** Settles when all results that were added are stored. */
  async flush(): Promise<void> {
    while (this.#unstored > 0) {
      this.#write();
      await this.#writing;
    }
  }

  /** One group at a time, while the next gathers. */
  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#writing || this.#waiting.length === 0) return;
    const group = this.#waiting.splice(0, groupMax);
    this.#writing = this.#store(group).finally(() => {
      this.#writing = undefined;
      if (this.#waiting.length >= groupMax) this.#write();
      else if (this.#waiting.length > 0) {
        this.#timer ??= setTimeout(() => this.#write(), waitMaxMs);
      }
    });
  }

  /** A group that the database refuses is halved until the one result that it refuses is alone. */
  async #store(group: readonly Entry[]): Promise<void> {
    try {
      await this.#record(group, isAboutValues);
    } catch {
      if (group.length === 1) return this.#record(group.map(withoutText), () => false);
      const half = Math.ceil(group.length / 2);
      await this.#store(group.slice(0, half));
      await this.#store(group.slice(half));
    }
  }

  async #record(group: readonly Entry[], isFinal: (error: unknown) => boolean): Promise<void> {
    const results = group.map(({ result }) => result);
    const write = () => recordResults(this.#context.store, results, this.#context);
    await untilStored(this.#context.log, 'results', write, isFinal);
    this.#unstored -= group.length;
    for (const { stored } of group) stored();
  }
}

/** The body of the answer is the only part that comes from outside. */
function withoutText({ result, stored }: Entry): Entry {
  const { answer } = result;
  return { stored, result: { ...result, answer: { ...answer, body: unstorableText } } };
}
