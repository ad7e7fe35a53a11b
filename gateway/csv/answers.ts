import { numberCell, rowOf, textCell } from './cells.ts';
import { type CsvImport, type FailedRow, Stopped } from './intake.ts';

/** The media types of what an import may answer. */
export const forms = {
  json: 'application/json',
  lines: 'application/x-ndjson',
  file: 'text/csv; charset=utf-8',
} as const;
export type Form = keyof typeof forms;

/** The form that a client accepts; JSON if it names none. */
export function formOf(accept: string | undefined): Form {
  if (/application\/x-ndjson/i.test(accept ?? '')) return 'lines';
  return /text\/csv/i.test(accept ?? '') ? 'file' : 'json';
}

/** Rows that the summary in JSON names. */
const failedMax = 1_000;
/** Of the cell that identifies a row, which may be any text. */
const identityMaxChars = 320;

/** The keys of the cell that identifies a row, and of names that nothing has. */
export type SummaryKeys = { identity: string; unknown: string };

type Batches = AsyncGenerator<FailedRow[]>;

function shown({ record, identity, error }: FailedRow, keys: SummaryKeys) {
  const { line } = record;
  return { line, [keys.identity]: identity.slice(0, identityMaxChars), error };
}

/** The counts so far. */
export function summaryOf(taken: CsvImport, keys: SummaryKeys): object {
  const { rows, created, updated, failed: failed_total } = taken.progress;
  const { ignoredColumns: ignored_columns, unknown } = taken.unused;
  const unknowns = keys.unknown === '' ? {} : { [keys.unknown]: unknown };
  return { rows, created, updated, failed_total, ignored_columns, ...unknowns };
}

/** Takes the whole file, and keeps the first rows that failed for the summary. */
export async function summaryAfter(
  batches: Batches,
  taken: CsvImport,
  keys: SummaryKeys,
): Promise<{ summary: object; stopped?: Stopped }> {
  const failed: object[] = [];
  const summary = () => ({ ...summaryOf(taken, keys), failed });
  try {
    for await (const rows of batches) {
      const room = failedMax - failed.length;
      failed.push(...rows.slice(0, room).map((row) => shown(row, keys)));
    }
    return { summary: summary() };
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    return { summary: { ...summary(), stopped_at_line: error.line }, stopped: error };
  }
}

/** The reason of an import that was stopped, for its caller; throws to cut the connection. */
export type Tell = (stopped: Stopped) => object & { error: string };

/** A line for each row that failed, one for each batch, and the summary. */
export async function* linesOf(
  batches: Batches,
  taken: CsvImport,
  { keys, tell }: { keys: SummaryKeys; tell: Tell },
): AsyncGenerator<string> {
  const line = (json: object) => `${JSON.stringify(json)}\n`;
  try {
    for await (const rows of batches) {
      const failed = rows.map((row) => line({ failed: shown(row, keys) }));
      yield [...failed, line({ progress: taken.progress })].join('');
    }
    yield line({ summary: summaryOf(taken, keys) });
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    const stopped = { stopped_at_line: error.line, ...tell(error) };
    yield line({ summary: { ...summaryOf(taken, keys), ...stopped } });
  }
}

/**
 * The rows that failed, as they stand in the file, with their line and the reason. The last one may
 * say where the import was stopped.
 */
export async function* fileOf(
  batches: Batches,
  taken: CsvImport,
  tell: Tell,
): AsyncGenerator<string> {
  let isBegun = false;
  try {
    for await (const rows of batches) {
      const head = isBegun ? '' : rowOf([...taken.header, 'line', 'reason'].map(textCell));
      isBegun = true;
      yield head + rows.map((row) => fileRow(taken, row)).join('');
    }
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    const { error: reason } = tell(error);
    const record = { cells: [], line: error.line };
    yield fileRow(taken, { record, identity: '', error: `stopped: ${reason}` });
  }
}

function fileRow({ header }: CsvImport, { record: { cells, line }, error }: FailedRow): string {
  const own = header.map((_, at) => textCell(cells[at] ?? ''));
  return rowOf([...own, numberCell(line), textCell(error)]);
}
