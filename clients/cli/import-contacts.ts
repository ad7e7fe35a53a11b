import {
  appendFileSync,
  closeSync,
  createReadStream,
  openSync,
  readSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import type { Content } from '../typescript/src/content.ts';
import type { CsvImportSummary, FailedRow } from '../typescript/src/csv-import.ts';
import { Contacts, type ContactsImportQuery } from '../typescript/src/made/contacts.ts';
import type { MembershipStatus } from '../typescript/src/made/types.ts';
import { UsageError } from './failures.ts';
import { type ImportPlace, type PlaceKeeper, placeKeeper } from './import-place.ts';
import { tellOnInterrupt } from './interrupt.ts';
import { type Caller, type CommonOptions, callerOf, type Invocation } from './invocation.ts';
import { progressLine, say, write } from './terminal.ts';

type ImportOptions = CommonOptions & {
  subscribeToLists?: string[];
  status?: MembershipStatus;
  map?: string[];
  failedTo?: string;
  resume?: true;
  data?: string;
  contacts?: string[];
};

const lineFeed = 0x0a;

/**
 * Imports a CSV file with its progress; false if rows failed. One that was cut goes on behind the
 * last batch that was answered, so that a batch whose answer was lost is written once more.
 */
export async function importContacts(
  invocation: Invocation,
  file: string,
  options: ImportOptions,
): Promise<boolean> {
  if (options.data !== undefined || options.contacts !== undefined) {
    throw new UsageError(`${file}: contacts come from the file, not from --data or --contacts`);
  }
  const { terminal } = invocation;
  const caller = callerOf(invocation, options);
  const query = queryOf(options);
  const target = [caller.profile.baseUrl, caller.profile.workspaceId, query];
  const keeper = placeKeeper(file, target, (text) => say(terminal, text));
  const begun = options.resume ? keeper.read() : undefined;
  if (options.resume && !begun) say(terminal, 'Nothing to resume: the import begins at the start.');
  if (!begun) keeper.forget();
  if (options.failedTo !== undefined && !begun) writeFileSync(options.failedTo, '');
  const end = await importRows(invocation, caller, { file, query, begun, keeper, options });
  const { rows, created, updated, failed } = end.done;
  const summary = { ...end.summary, rows, created, updated, failed_total: failed };
  await write(terminal, `${JSON.stringify(summary)}\n`);
  if (end.summary.error !== undefined) return false;
  keeper.forget();
  return failed === 0;
}

function queryOf({ subscribeToLists, status, map }: ImportOptions): ContactsImportQuery {
  return {
    ...(subscribeToLists ? { lists: subscribeToLists } : {}),
    ...(status === undefined ? {} : { status }),
    ...Object.fromEntries((map ?? []).map(mapOf)),
  };
}

type Work = {
  file: string;
  query: ContactsImportQuery;
  begun: ImportPlace | undefined;
  keeper: PlaceKeeper;
  options: ImportOptions;
};

type End = { done: ImportPlace['done']; summary: Partial<CsvImportSummary> };

async function importRows(
  { terminal }: Invocation,
  { http }: Caller,
  { file, query, begun, keeper, options }: Work,
): Promise<End> {
  const before = begun?.done ?? { rows: 0, created: 0, updated: 0, failed: 0 };
  const rest = restOf(file, begun);
  if (!rest) return { done: before, summary: {} };
  const noteFailed = (row: FailedRow) => {
    if (options.failedTo === undefined) return;
    const line = row.line + rest.linesBefore;
    appendFileSync(options.failedTo, `${JSON.stringify({ ...row, line })}\n`);
  };
  let done = before;
  let summary: CsvImportSummary | undefined;
  const progress = progressLine(terminal);
  const release = tellOnInterrupt(() => {
    progress.end();
    say(terminal, `Stopped after ${done.rows} rows. The same command with --resume goes on.`);
  });
  try {
    for await (const line of new Contacts(http).importCsv(query, rest.content)) {
      if (line.failed) noteFailed(line.failed);
      if (line.progress) {
        const made = line.progress;
        done = {
          rows: before.rows + made.rows,
          created: before.created + made.created,
          updated: before.updated + made.updated,
          failed: before.failed + made.failed,
        };
        keeper.keep({
          done,
          headerBytes: made.header_bytes,
          nextByte: made.next_byte + rest.bytesBefore,
          nextLine: made.next_line + rest.linesBefore,
        });
        progress.show(`${done.rows} rows, ${done.created} new, ${done.updated} changed`);
      }
      summary = line.summary ?? summary;
    }
  } finally {
    release();
    progress.end();
  }
  if (!summary) throw new Error('the answer ended before its summary; go on by --resume');
  return { done, summary };
}

type Rest = {
  content: Content;
  /** Of the file, between the header and the first row of the upload. */
  bytesBefore: number;
  linesBefore: number;
};

/** The file, or its header and the rows that are left; undefined if none are. */
function restOf(file: string, begun: ImportPlace | undefined): Rest | undefined {
  if (!begun) return { content: createReadStream(file), bytesBefore: 0, linesBefore: 0 };
  const { headerBytes, nextByte, nextLine } = begun;
  if (nextByte >= statSync(file).size) return undefined;
  const header = startOf(file, headerBytes);
  async function* parts() {
    yield header;
    yield* createReadStream(file, { start: nextByte });
  }
  const headerLines = header.filter((byte) => byte === lineFeed).length;
  return {
    content: parts(),
    bytesBefore: nextByte - headerBytes,
    linesBefore: nextLine - 1 - headerLines,
  };
}

function startOf(file: string, bytes: number): Buffer {
  const start = Buffer.alloc(bytes);
  const open = openSync(file, 'r');
  try {
    readSync(open, start, 0, bytes, 0);
  } finally {
    closeSync(open);
  }
  return start;
}

function mapOf(text: string): [string, string] {
  const [column = '', field] = text.split(/=(.*)/s);
  if (column === '' || field === undefined) {
    throw new UsageError(`--map ${text}: COLUMN=FIELD is expected`);
  }
  return [`map.${column}`, field];
}
