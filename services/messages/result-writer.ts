import type { ClaimGroup } from './claims.ts';
import type { Context } from './context.ts';
import type { Fate } from './delivery.ts';
import { type Result, recordResults } from './results.ts';

/** What a kill can make go out twice is what was sent and not yet written: so many, or so long. */
const groupMax = 200;
const waitMaxMs = 100;

/** Writes results in groups, one group at a time, while the next gathers. */
export class ResultWriter {
  readonly fates = new Map<string, Fate>();
  #waiting: { result: Result; unknown: number }[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #error: unknown;
  readonly #context: Context;
  readonly #group: ClaimGroup;
  readonly #onError: (error: unknown) => void;

  constructor(context: Context, group: ClaimGroup, onError: (error: unknown) => void) {
    this.#context = context;
    this.#group = group;
    this.#onError = onError;
  }

  /** `unknown` is how often its fate was unknown before. */
  add(result: Result, unknown: number): void {
    this.#waiting.push({ result, unknown });
    if (this.#waiting.length >= groupMax) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), waitMaxMs);
  }

  /** Resolves when everything is in the record; throws what kept something from it. */
  async end(): Promise<void> {
    this.#flush();
    await this.#writing;
    if (this.#error !== undefined) throw this.#error;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const group = this.#waiting;
    if (group.length === 0) return;
    this.#waiting = [];
    this.#writing = this.#writing.then(() => this.#write(group));
  }

  async #write(group: { result: Result; unknown: number }[]): Promise<void> {
    try {
      const results = group.map(({ result }) => result);
      const recorded = await recordResults(this.#context, this.#group, results);
      for (const { result, unknown } of group) {
        if (!recorded.has(result.id)) continue;
        const { status, info, dueAt, isUnknown } = result;
        this.fates.set(result.id, { status, info, dueAt, unknown: unknown + (isUnknown ? 1 : 0) });
      }
    } catch (error) {
      this.#error ??= error;
      this.#onError(error);
    }
  }
}
