/** A row that was not written. */
export type FailedRow = {
  /** Its line in the file, from 1. */
  line: number;
  error: string;
} & Record<string, unknown>;

/** Rows so far. */
export type CsvImportProgress = {
  rows: number;
  created: number;
  updated: number;
  failed: number;
  /** The size of the header. With what follows `next_byte` it is a file of the rows that are left. */
  header_bytes: number;
  /** Where the row behind those that were answered begins in the file. */
  next_byte: number;
  next_line: number;
};

/** The end of an import. */
export type CsvImportSummary = {
  rows: number;
  created: number;
  updated: number;
  failed_total: number;
  /** Columns of the file that no field has. */
  ignored_columns: unknown;
  /** Where the import was stopped; rows before it are written. */
  stopped_at_line?: number;
  /** Why it was stopped. */
  error?: string;
} & Record<string, unknown>;

/** A line of the answer to a CSV file. */
export type CsvImportLine =
  | { failed: FailedRow; progress?: never; summary?: never }
  | { progress: CsvImportProgress; failed?: never; summary?: never }
  | { summary: CsvImportSummary; failed?: never; progress?: never };
