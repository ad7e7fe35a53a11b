import { GroupWriter } from '#lib/batching/group-writer.ts';
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
  readonly #writer = new GroupWriter<Entry>({
    ...{ groupMax, waitMaxMs },
    write: (group) => this.#record(group, isAboutValues),
    refused: (entry) => this.#record([withoutText(entry)], () => false),
  });

  constructor(context: AttemptRecorderContext) {
    this.#context = context;
  }

  /** Settles when the result is stored. */
  add(result: AttemptResult): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#writer.add({ result, stored: resolve });
    return promise;
  }

  get unstored(): number {
    return this.#writer.unwritten;
  }

  /** Whether so many results are not stored yet that nothing more may be claimed. */
  get isBehind(): boolean {
    return this.unstored >= unstoredMax;
  }

  /** Settles when all results that were added are stored. */
  flush(): Promise<void> {
    return this.#writer.flush();
  }

  async #record(group: readonly Entry[], isFinal: (error: unknown) => boolean): Promise<void> {
    const results = group.map(({ result }) => result);
    const write = () => recordResults(this.#context.store, results, this.#context);
    await untilStored(this.#context.log, 'results', write, isFinal);
    for (const { stored } of group) stored();
  }
}

/** The body of the answer is the only part that comes from outside. */
function withoutText({ result, stored }: Entry): Entry {
  const { answer } = result;
  return { stored, result: { ...result, answer: { ...answer, body: unstorableText } } };
}
