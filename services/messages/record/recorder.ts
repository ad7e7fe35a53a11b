import { GroupWriter } from '#lib/batching/group-writer.ts';
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
  readonly #writers = new Map<string, GroupWriter<RecordEntry>>();

  constructor(context: ResultRecorderContext) {
    this.#context = context;
  }

  add(workspaceId: string, entry: RecordEntry): void {
    this.#context.journal?.settle(workspaceId, entry.result);
    this.#writerOf(workspaceId).add(entry);
  }

  /** Whether so many results of a workspace are not recorded yet that it may send nothing more. */
  isBehind(workspaceId: string): boolean {
    return this.unstored(workspaceId) >= unstoredMax;
  }

  /** How many results are not recorded yet. */
  get unstoredAll(): number {
    return [...this.#writers.values()].reduce((sum, { unwritten }) => sum + unwritten, 0);
  }

  /** How many results of a workspace are not recorded yet. */
  unstored(workspaceId: string): number {
    return this.#writers.get(workspaceId)?.unwritten ?? 0;
  }

  #writerOf(workspaceId: string): GroupWriter<RecordEntry> {
    const known = this.#writers.get(workspaceId);
    if (known) return known;
    const writer = new GroupWriter<RecordEntry>({
      ...{ groupMax, waitMaxMs },
      write: (group) => this.#record(workspaceId, group),
      refused: (entry) => this.#record(workspaceId, [withoutWords(entry)], () => false),
      emptied: () => this.#writers.delete(workspaceId),
    });
    this.#writers.set(workspaceId, writer);
    return writer;
  }

  /** Throws only where the database will never take the values, and only if `isFinal` says so. */
  async #record(
    workspaceId: string,
    group: readonly RecordEntry[],
    isFinal = isAboutValues,
  ): Promise<void> {
    const results = group.map(({ result }) => result);
    const write = () => recordResults(this.#context, workspaceId, results);
    const recorded = await untilStored(this.#context.log, 'results', write, isFinal);
    for (const { result, unknown, stored } of group) {
      const { id, status, info, dueAt, isUnknown } = result;
      const fate = { status, info, dueAt, unknown: unknown + (isUnknown ? 1 : 0) };
      stored(recorded.has(id) ? fate : undefined);
    }
  }
}

/** Its words and its id alone come from outside. */
function withoutWords(entry: RecordEntry): RecordEntry {
  const { providerId: _, ...result } = entry.result;
  return { ...entry, result: { ...result, info: unstorableInfo } };
}
