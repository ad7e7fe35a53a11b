import type { Log } from '#lib/log.ts';
import type { Fate } from '../message.ts';
import type { ClaimGroup } from './claims.ts';
import { type Result, type ResultContext, recordResults } from './results.ts';
import { isAboutValues, untilStored } from './until-stored.ts';

/** Bounds what a kill can send twice: messages that were sent and not yet recorded. */
export const resultGroupMax = 200;
const waitMaxMs = 100;
const unstorableInfo = "the server's answer could not be stored";

export type WriterContext = ResultContext & {
  log: Log;
  underway: { release(ids: Iterable<string>): void };
};

type Entry = { result: Result; unknown: number };

/** Writes results in groups, one group at a time, while the next gathers. No result is dropped. */
export class ResultWriter {
  readonly fates = new Map<string, Fate>();
  /** Ids of results that are not recorded yet. */
  readonly unstored = new Set<string>();
  #waiting: Entry[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  /** Results that the database refused for their values, on their way without their text. */
  readonly #refused: Promise<void>[] = [];
  readonly #context: WriterContext;
  readonly #group: ClaimGroup;

  constructor(context: WriterContext, group: ClaimGroup) {
    this.#context = context;
    this.#group = group;
  }

  /** `unknown` is how often its fate was unknown before. */
  add(result: Result, unknown: number): void {
    this.unstored.add(result.id);
    this.#waiting.push({ result, unknown });
    if (this.#waiting.length >= resultGroupMax) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), waitMaxMs);
  }

  /** Resolves when everything is in the record. */
  async end(): Promise<void> {
    this.#flush();
    await this.#writing;
    await Promise.all(this.#refused);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const group = this.#waiting;
    if (group.length === 0) return;
    this.#waiting = [];
    this.#writing = this.#writing.then(() => this.#store(group));
  }

  async #store(group: readonly Entry[]): Promise<void> {
    try {
      await this.#record(group);
    } catch (error) {
      if (!isAboutValues(error)) throw error;
      const half = Math.ceil(group.length / 2);
      if (group.length === 1) {
        // Repeated beside the others, whose turn would not come while the database refuses this one.
        this.#refused.push(this.#storeWithoutText(group));
        return;
      }
      await this.#store(group.slice(0, half));
      await this.#store(group.slice(half));
    }
  }

  /** One whose values the database refuses: its text is the only part that comes from outside. */
  async #storeWithoutText(group: readonly Entry[]): Promise<void> {
    const plain = group.map(({ result, unknown }) => ({
      result: { ...result, info: unstorableInfo },
      unknown,
    }));
    await this.#record(plain, () => false);
  }

  async #record(group: readonly Entry[], isFinal?: (error: unknown) => boolean): Promise<void> {
    const { log, underway } = this.#context;
    const results = group.map(({ result }) => result);
    const write = () => recordResults(this.#context, this.#group, results);
    const recorded = await untilStored(log, 'results', write, isFinal);
    for (const { result, unknown } of group) {
      this.unstored.delete(result.id);
      if (!recorded.has(result.id)) continue;
      const { status, info, dueAt, isUnknown } = result;
      this.fates.set(result.id, { status, info, dueAt, unknown: unknown + (isUnknown ? 1 : 0) });
    }
    underway.release(results.map(({ id }) => id));
  }
}
