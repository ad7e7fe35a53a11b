import { setImmediate as nextTurn } from 'node:timers/promises';
import { CsvError, type Parser, parse } from 'csv-parse';
import { CsvFault } from './fault.ts';
import { Utf8Check } from './utf8.ts';

export type CsvRecord = {
  cells: string[];
  /** The line that it begins at, from 1. */
  line: number;
  sizeBytes: number;
  /** The place behind it. */
  end: Place;
};

/** A place in a file: the byte, from 0, and its line, from 1. */
export type Place = { byte: number; line: number };

/** A contact has up to 320 KiB of JSON, whose quotes are doubled in a file. */
const recordMaxChars = 1024 * 1024;
/** Without a record: cells and lines that are empty count here, and not above. */
const spanMaxBytes = 4 * recordMaxChars;
/** A file holds a place from its first byte on, and nobody knows yet whether it may. */
const firstRowMaxMs = 30_000;
/** The first line is read whole to find the delimiter. */
const headerMaxBytes = 64 * 1024;
/** Others have a turn after each part of this size, which takes a millisecond or two. */
const partBytes = 16 * 1024;

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const quote = 0x22;
const delimiters = [',', ';', '\t'];

/**
 * The records of a CSV file as they arrive, those of a part together. Throws a CsvFault where the
 * file cannot be read on, after the records before it.
 */
export async function* recordsOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<CsvRecord[]> {
  const beganAtMs = performance.now();
  const check = new Utf8Check();
  let head: Buffer = Buffer.alloc(0);
  let reader: RecordReader | undefined;
  let fault: CsvFault | undefined;
  for await (const chunk of chunks) {
    if (!reader?.hasRow && performance.now() - beganAtMs > firstRowMaxMs) throw noRowInTime();
    const { whole, ...found } = check.take(chunk);
    fault = found.fault;
    if (reader) {
      yield* reader.read(whole);
    } else {
      head = Buffer.concat([head, whole]);
      if (hasFirstLine(head)) {
        reader = new RecordReader(head);
        yield* reader.read(head);
      } else if (head.length > headerMaxBytes) {
        throw headerTooLong();
      }
    }
    if (fault) break;
  }
  fault ??= check.end();
  if (!reader) {
    reader = new RecordReader(head);
    yield* reader.read(head);
  }
  yield* reader.end(fault);
}

const noRowInTime = () => new CsvFault(1, 'no row came within 30 s');

const headerTooLong = () =>
  new CsvFault(1, 'the first line has more than 64 KiB; it must hold the names of the columns');

function hasFirstLine(head: Buffer): boolean {
  return head.includes(lineFeed) || head.includes(carriageReturn);
}

/** The delimiter that the first line has most of, outside quotes. */
function delimiterOf(head: Buffer): string {
  const counts = new Map(delimiters.map((delimiter) => [delimiter.charCodeAt(0), 0]));
  let isQuoted = false;
  for (const byte of head.subarray(0, headerMaxBytes)) {
    if (byte === quote) isQuoted = !isQuoted;
    else if (!isQuoted && (byte === lineFeed || byte === carriageReturn)) break;
    const count = isQuoted ? undefined : counts.get(byte);
    if (count !== undefined) counts.set(byte, count + 1);
  }
  const most = Math.max(...counts.values());
  return delimiters.find((each) => counts.get(each.charCodeAt(0)) === most) ?? ',';
}

/** Reads records from bytes that are whole characters of UTF-8. */
class RecordReader {
  readonly #parser: Parser;
  #records: CsvRecord[] = [];
  #fault: CsvFault | undefined;
  #bytesBefore = 0;
  /** Positions of line feeds that are not counted yet. The parser counts those in quotes twice. */
  #lineFeedsAt: number[] = [];
  #lineFeeds = 0;
  /** The position behind the last record. */
  #recordTo = 0;
  #lastLine = 0;
  #count = 0;

  constructor(head: Buffer) {
    this.#parser = parse({
      bom: true,
      delimiter: delimiterOf(head),
      // Files that programs have joined have several kinds of line ends.
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_quotes: true,
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: recordMaxChars,
      // None goes through the stream, so that those before a fault are not lost with it.
      on_record: (cells: string[]) => this.#take(cells),
    });
    this.#parser.on('error', (error) => {
      this.#fault = this.#faultOf(error);
    });
    this.#parser.resume();
  }

  /** Whether there was a row behind the header. */
  get hasRow(): boolean {
    return this.#count > 1;
  }

  async *read(bytes: Buffer): AsyncGenerator<CsvRecord[]> {
    for (let from = 0; from < bytes.length; from += partBytes) {
      const part = bytes.subarray(from, from + partBytes);
      for (let at = part.indexOf(lineFeed); at !== -1; at = part.indexOf(lineFeed, at + 1)) {
        this.#lineFeedsAt.push(this.#bytesBefore + at);
      }
      this.#bytesBefore += part.length;
      this.#parser.write(part);
      yield* this.#given();
      if (this.#bytesBefore - this.#recordTo > spanMaxBytes) {
        throw new CsvFault(this.#lastLine + 1, 'the file has 4 MiB without a row');
      }
    }
  }

  /** The last records, and then the fault of the file, if it has one. */
  async *end(fault: CsvFault | undefined): AsyncGenerator<CsvRecord[]> {
    this.#parser.end();
    yield* this.#given(fault);
    if (fault) throw fault;
  }

  async *#given(fault?: CsvFault): AsyncGenerator<CsvRecord[]> {
    // The parser says in a later turn what is wrong.
    await nextTurn();
    const records = this.#records;
    this.#records = [];
    if (records.length > 0) yield records;
    if (this.#fault) throw fault ?? this.#fault;
  }

  #take(cells: string[]): null {
    const { bytes } = this.#parser.info;
    const feeds = this.#lineFeedsAt.findIndex((at) => at >= bytes);
    const counted = this.#lineFeedsAt.splice(0, feeds === -1 ? Number.POSITIVE_INFINITY : feeds);
    this.#lineFeeds += counted.length;
    // The last record of a file may end without one.
    this.#lastLine = this.#lineFeeds + (counted.at(-1) === bytes - 1 ? 0 : 1);
    const line = this.#lastLine - lineFeedsOf(cells);
    const end = { byte: bytes, line: this.#lineFeeds + 1 };
    this.#records.push({ cells, line, sizeBytes: bytes - this.#recordTo, end });
    this.#recordTo = bytes;
    this.#count += 1;
    return null;
  }

  #faultOf(error: Error): CsvFault {
    const code = error instanceof CsvError ? error.code : '';
    return new CsvFault(this.#lastLine + 1, faults.get(code) ?? 'the row cannot be read');
  }
}

const faults = new Map<string, string>([
  ['CSV_MAX_RECORD_SIZE', 'the row has more than 1 MiB; perhaps a quote is not closed'],
  ['CSV_QUOTE_NOT_CLOSED', 'a quote of the row is not closed'],
]);

function lineFeedsOf(cells: readonly string[]): number {
  let count = 0;
  for (const cell of cells) {
    for (let at = cell.indexOf('\n'); at !== -1; at = cell.indexOf('\n', at + 1)) count += 1;
  }
  return count;
}
