import type { Log } from '#lib/log.ts';
import { isAboutValues, untilStored } from '#lib/postgres/until-stored.ts';
import type { Fate } from '../message.ts';
import type { Journal } from './journal.ts';
import { type ResultContext, recordResults, type SendResult } from './results.ts';

/** Bounds a statement. */
const groupMax = 200;
/**
 * Bounds what a kill can send twice: messages of a workspace that were sent and are not recorded
 * yet.
 */
export const unstoredMax = 800;
const waitMaxMs = 100;
const unstorableInfo = "the server's answer could not be stored";

export type ResultRecorderContext = ResultContext & {
  log: Log;
  journal?: Pick<Journal, 'settle'> | undefined;
};

export type RecordEntry = {
  result: SendResult;
  /** How often its fate was unknown before. */
  unknown: number;
  /**
   * Called once it is in the record; without a fate where another process holds the message by now.
   */
  stored: (fate: Fate | undefined) => void;
};

/**
 * Records what became of messages, in groups by workspace. They belong to the process: no result is
 * dropped.
 */
export class ResultRecorder {
  readonly #context: ResultRecorderContext;
  /** Those with results that are not recorded yet. */
  readonly #writers = new Map<string, ResultWriter>();

  constructor(context: ResultRecorderContext) {
    this.#context = context;
  }

  add(workspaceId: string, entry: RecordEntry): void {
    const writer = this.#writers.get(workspaceId) ?? new ResultWriter(this.#context, workspaceId);
    this.#writers.set(workspaceId, writer);
    this.#context.journal?.settle(workspaceId, entry.result);
    writer.add(entry, () => {
      if (writer.unstored === 0) this.#writers.delete(workspaceId);
    });
  }

  /** Whether so many results of a workspace are not recorded yet that it may send nothing more. */
  isBehind(workspaceId: string): boolean {
    return this.unstored(workspaceId) >= unstoredMax;
  }

  /** How many results are not recorded yet. */
  get unstoredAll(): number {
    return [...this.#writers.values()].reduce((sum, { unstored }) => sum + unstored, 0);
  }

  /** How many results of a workspace are not recorded yet. */
  unstored(workspaceId: string): number {
    return this.#writers.get(workspaceId)?.unstored ?? 0;
  }
}

/** Writes one group at a time, while the next gathers. */
class ResultWriter {
  unstored = 0;
  #waiting: RecordEntry[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  readonly #context: ResultRecorderContext;
  readonly #workspaceId: string;

  constructor(context: ResultRecorderContext, workspaceId: string) {
    this.#context = context;
    this.#workspaceId = workspaceId;
  }

  add(entry: RecordEntry, settled: () => void): void {
    this.unstored += 1;
    const stored = (fate: Fate | undefined) => {
      this.unstored -= 1;
      settled();
      entry.stored(fate);
    };
    this.#waiting.push({ ...entry, stored });
    if (this.#waiting.length >= groupMax) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), waitMaxMs);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const group = this.#waiting;
    this.#waiting = [];
    this.#writing = this.#writing.then(() => this.#store(group));
  }

  async #store(group: readonly RecordEntry[]): Promise<void> {
    try {
      await this.#record(group);
    } catch {
      const half = Math.ceil(group.length / 2);
      if (group.length === 1) {
        // Repeated beside the others, whose turn would not come while the database refuses this
        // one.
        void this.#storeWithoutText(group);
        return;
      }
      await this.#store(group.slice(0, half));
      await this.#store(group.slice(half));
    }
  }

  /** One whose values the database refuses: its words and its id alone come from outside. */
  async #storeWithoutText(group: readonly RecordEntry[]): Promise<void> {
    const plain = group.map((entry) => {
      const { providerId: _, ...result } = entry.result;
      return { ...entry, result: { ...result, info: unstorableInfo } };
    });
    await this.#record(plain, () => false);
  }

  /** Throws only where the database will never take the values, and only if `isFinal` says so. */
  async #record(group: readonly RecordEntry[], isFinal = isAboutValues): Promise<void> {
    const results = group.map(({ result }) => result);
    const write = () => recordResults(this.#context, this.#workspaceId, results);
    const recorded = await untilStored(this.#context.log, 'results', write, isFinal);
    for (const { result, unknown, stored } of group) {
      const { id, status, info, dueAt, isUnknown } = result;
      const fate = { status, info, dueAt, unknown: unknown + (isUnknown ? 1 : 0) };
      stored(recorded.has(id) ? fate : undefined);
    }
  }
}
