import { createReadStream, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { parse } from 'csv-parse';
import type { CsvImportLine, CsvImportSummary } from '../typescript/src/csv-import.ts';
import { UsageError } from './failures.ts';
import { type CommonOptions, callerOf, type Session } from './session.ts';
import { progressLine, write } from './terminal.ts';

type ImportOptions = CommonOptions & {
  subscribeToLists?: string[];
  status?: string;
  map?: string[];
  failedTo?: string;
  resume?: true;
};

/** How far an import has come, beside its file. */
type Place = { sizeBytes: number; modifiedMs: number; rows: number };

/**
 * Imports a CSV file, with progress. An import that was cut can be resumed: rows whose batch was
 * answered are left out, and those in between are written once more, which changes nothing.
 */
export async function importContacts(
  session: Session,
  file: string,
  options: ImportOptions,
): Promise<boolean> {
  const { http } = callerOf(session, options);
  const seen = statOf(file);
  const placeFile = `${file}.postrider-import`;
  const skipped = options.resume ? placeOf(placeFile, seen) : 0;
  const maps = (options.map ?? []).map(mapOf);
  const query = {
    ...(options.subscribeToLists ? { lists: options.subscribeToLists } : {}),
    ...(options.status === undefined ? {} : { status: options.status }),
    ...Object.fromEntries(maps),
  };
  const body = {
    content: Readable.toWeb(skipped > 0 ? rowsAfter(file, skipped) : createReadStream(file)),
    type: 'text/csv',
  } as { content: NonNullable<RequestInit['body']>; type: string };
  const operation = { verb: 'POST', path: '/api/contacts.import' } as const;
  const progress = progressLine(session.terminal);
  const failed = failuresOf(options.failedTo);
  let summary: CsvImportSummary | undefined;
  try {
    for await (const line of http.lines<CsvImportLine>(operation, query, {}, body)) {
      if (line.failed) failed(line.failed);
      if (line.progress) {
        const { rows, created, updated } = line.progress;
        const place: Place = { ...seen, rows: skipped + rows };
        writeFileSync(placeFile, JSON.stringify(place));
        progress.show(`${skipped + rows} rows, ${created} new, ${updated} changed`);
      }
      summary = line.summary ?? summary;
    }
  } finally {
    progress.end();
  }
  if (!summary) throw new Error('the answer ended before its summary; go on by --resume');
  await write(session.terminal, `${JSON.stringify(summary)}\n`);
  if (summary.error === undefined) rmSync(placeFile, { force: true });
  return summary.error === undefined && summary.failed_total === 0;
}

function statOf(file: string): Omit<Place, 'rows'> {
  try {
    const { size: sizeBytes, mtimeMs: modifiedMs } = statSync(file);
    return { sizeBytes, modifiedMs };
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${error}`);
  }
}

/** Rows that are written already; none if the file has changed since. */
function placeOf(placeFile: string, { sizeBytes, modifiedMs }: Omit<Place, 'rows'>): number {
  try {
    const place: Place = JSON.parse(readFileSync(placeFile, 'utf8'));
    return place.sizeBytes === sizeBytes && place.modifiedMs === modifiedMs ? place.rows : 0;
  } catch {
    return 0;
  }
}

/** The head of the file and the rows behind the first `skipped`, as they stand there. */
function rowsAfter(file: string, skipped: number): Readable {
  const records = createReadStream(file).pipe(
    parse({
      raw: true,
      bom: true,
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
    }),
  );
  return Readable.from(kept(records, skipped));
}

async function* kept(records: AsyncIterable<{ raw: string }>, skipped: number) {
  let at = 0;
  for await (const { raw } of records) {
    if (at === 0 || at > skipped) yield raw.endsWith('\n') ? raw : `${raw}\n`;
    at += 1;
  }
}

function mapOf(text: string): [string, string] {
  const [column = '', field = ''] = text.split(/=(.*)/s);
  if (column === '' || field === '')
    throw new UsageError(`--map ${text}: COLUMN=FIELD is expected`);
  return [`map.${column}`, field];
}

/** Adds rows that were not written to a file of lines. */
function failuresOf(file: string | undefined): (row: object) => void {
  if (file === undefined) return () => {};
  writeFileSync(file, '');
  return (row) => writeFileSync(file, `${JSON.stringify(row)}\n`, { flag: 'a' });
}
