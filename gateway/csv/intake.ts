/*
 * Rows of a CSV file, taken by calls of an operation for many rows.
 *
 * Each batch is one call, and the next one begins after it; meanwhile the rows of the next are
 * read, so that two batches are in memory. The first batch is what the first part of the
 * file has, so that a request that is wrong as a whole is refused at once.
 *
 * A call that is refused for now (429 or 503) is repeated until its batch has waited for a minute.
 * If it fails otherwise, or the file cannot be read on, the rows before stay.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Message } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { invalidField, retryDefaultMs, retryDelayMs } from '#lib/errors/errors.ts';
import { mapInTurns } from '#lib/limits/turns.ts';
import { ClientGone } from '../http/body.ts';
import { Refusal } from '../http/refusal.ts';
import type { RowDecoder } from '../json/decode.ts';
import { type Columns, type RowReader, rowReader } from './columns.ts';
import { CsvFault } from './fault.ts';
import type { CsvRecord, RowEnd } from './records.ts';

const batchRows = 2_500;
const batchBytes = 2 * 1024 * 1024;
const waitMaxMs = 60_000;
/** Names in the summary. */
const namesMax = 100;

/** The answer of an operation for a batch: an outcome of each row, in their order. */
export type BatchAnswer = {
  outcomes: readonly { action: string; error?: string | undefined }[];
  unknown: readonly string[];
};

export type Intake = {
  columns: Columns;
  map: ReadonlyMap<string, string>;
  rows: RowDecoder;
  records: AsyncIterable<CsvRecord[]>;
  /** Calls the operation for a batch of about that size. */
  call: (rows: Message[], sizeBytes: number) => Promise<BatchAnswer>;
  signal: AbortSignal;
};

export type FailedRow = {
  record: Pick<CsvRecord, 'cells' | 'line'>;
  identity: string;
  error: string;
};

export type Progress = {
  rows: number;
  created: number;
  updated: number;
  failed: number;
  /** The size of the header, without which the rest of a file cannot be read. */
  header_bytes: number;
  /** The byte at which the first row begins that was not answered; `next_line` is its line. */
  next_byte: number;
  next_line: number;
};

/** The import ended before the end of its file. */
export class Stopped extends Error {
  readonly line: number;

  constructor(line: number, cause: unknown) {
    super('an import was stopped', { cause });
    this.line = line;
  }
}

/** One file that is taken: `batches` takes it, and the rest says how far it is. */
export class CsvImport {
  readonly progress: Progress = {
    ...{ rows: 0, created: 0, updated: 0, failed: 0 },
    ...{ header_bytes: 0, next_byte: 0, next_line: 1 },
  };
  readonly #intake: Intake;
  readonly #unknown = new Set<string>();
  #reader: RowReader | undefined;
  #batch: CsvRecord[] = [];
  #batchBytes = 0;
  /** The line behind the last row. */
  #nextLine = 1;

  constructor(intake: Intake) {
    this.#intake = intake;
  }

  /** The names of the columns; empty before they are known. */
  get header(): readonly string[] {
    return this.#reader?.header ?? [];
  }

  /** Columns that nothing was read from, and names in rows that nothing has. */
  get unused(): { ignoredColumns: string[]; unknown: string[] } {
    const ignored = this.#reader?.ignored ?? [];
    return { ignoredColumns: ignored.slice(0, namesMax), unknown: [...this.#unknown] };
  }

  /** Takes the file batch by batch, and gives the rows of each that failed. Throws `Stopped`. */
  async *batches(): AsyncGenerator<FailedRow[]> {
    let inFlight: Promise<FailedRow[]> | undefined;
    try {
      for await (const records of this.#intake.records) {
        for (const record of records) {
          this.#add(record);
          if (this.#batch.length < batchRows && this.#batchBytes < batchBytes) continue;
          if (inFlight) yield await inFlight;
          inFlight = this.#begin();
        }
        if (inFlight || this.progress.rows > 0 || this.#batch.length === 0) continue;
        yield await this.#begin();
      }
    } catch (error) {
      if (error instanceof Stopped || error instanceof ClientGone) throw error;
      yield* this.#finish(inFlight);
      throw stoppedBy(error, this.#nextLine);
    }
    yield* this.#finish(inFlight);
    if (this.progress.rows === 0) throw new Stopped(1, invalidField('', 'the file has no rows'));
  }

  async *#finish(inFlight: Promise<FailedRow[]> | undefined): AsyncGenerator<FailedRow[]> {
    if (inFlight) yield await inFlight;
    if (this.#batch.length > 0) yield await this.#begin();
  }

  #add(record: CsvRecord): void {
    this.#nextLine = record.line + 1;
    if (this.#reader) {
      this.#batch.push(record);
      this.#batchBytes += record.sizeBytes;
    } else {
      const { columns, map } = this.#intake;
      this.#reader = rowReader(columns, record.cells, map);
      this.progress.header_bytes = record.end.byte;
      this.#passTo(record.end);
    }
  }

  #passTo({ byte, line }: RowEnd): void {
    this.progress.next_byte = byte;
    this.progress.next_line = line;
  }

  #begin(): Promise<FailedRow[]> {
    const [batch, sizeBytes] = [this.#batch, this.#batchBytes];
    this.#batch = [];
    this.#batchBytes = 0;
    const written = this.#write(batch, sizeBytes);
    // It is awaited only once the next batch was read.
    written.catch(() => {});
    return written;
  }

  async #write(batch: readonly CsvRecord[], sizeBytes: number): Promise<FailedRow[]> {
    const rows = await mapInTurns(batch, (record) => this.#rowOf(record));
    const { outcomes, unknown } = await this.#call(rows, sizeBytes).catch((error: unknown) => {
      throw new Stopped(batch[0]?.line ?? 1, error);
    });
    for (const name of unknown) if (this.#unknown.size < namesMax) this.#unknown.add(name);
    const last = batch.at(-1);
    if (last) this.#passTo(last.end);
    return batch.flatMap((record, at) => {
      const { action, error } = outcomes[at] ?? { action: 'error' };
      this.progress.rows += 1;
      if (action === 'create') this.progress.created += 1;
      else if (action === 'update') this.progress.updated += 1;
      else this.progress.failed += 1;
      const identity = this.#reader?.identityOf(record.cells) ?? '';
      return action === 'error' ? [{ record, identity, error: error ?? 'not written' }] : [];
    });
  }

  #rowOf({ cells }: CsvRecord): Message {
    const reader = this.#reader;
    if (!reader) throw new Error('a row without a header');
    const extra = cells.findIndex((cell, at) => at >= reader.header.length && cell !== '');
    const row = reader.rowOf(cells);
    if (extra === -1) return this.#intake.rows.decode(row);
    const error = `the row has ${cells.length} cells, and the header ${reader.header.length}`;
    return this.#intake.rows.faulty(reader.identityOf(cells), error);
  }

  /**
   * The answer for a batch. One that was written and whose answer was lost is written again, as any
   * upsert that is repeated.
   */
  async #call(rows: Message[], sizeBytes: number): Promise<BatchAnswer> {
    const { call, signal } = this.#intake;
    const untilMs = performance.now() + waitMaxMs;
    for (;;) {
      try {
        return await call(rows, sizeBytes);
      } catch (error) {
        const retryMs = retryMsOf(error);
        if (retryMs === undefined || performance.now() + retryMs > untilMs) throw error;
        await sleep(retryMs, undefined, { signal });
      }
    }
  }
}

/** The file cannot be read on, or has paused for too long. */
function stoppedBy(error: unknown, nextLine: number): Stopped {
  if (!(error instanceof CsvFault)) return new Stopped(nextLine, error);
  return new Stopped(error.line, invalidField('', `line ${error.line}: ${error.message}`));
}

const repeatable = new Set<Code>([Code.ResourceExhausted, Code.Unavailable]);

/** When a call may be repeated; undefined if a repeat gets the same answer. */
function retryMsOf(error: unknown): number | undefined {
  if (error instanceof Refusal) {
    return [429, 503].includes(error.failure.status) ? retryDefaultMs : undefined;
  }
  const refused = ConnectError.from(error);
  return repeatable.has(refused.code) ? retryDelayMs(refused) : undefined;
}
