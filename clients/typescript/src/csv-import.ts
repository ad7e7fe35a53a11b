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
  /** The header and the bytes from `next_byte` on are a file of the rest. */
  header_bytes: number;
  /** The place in the file of the row behind those that were answered. */
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
  /** The line at which the import was stopped; rows before it are written. */
  stopped_at_line?: number;
  /** Why it was stopped. */
  error?: string;
} & Record<string, unknown>;

/** A line of the answer to a CSV file. */
export type CsvImportLine =
  | { failed: FailedRow; progress?: never; summary?: never }
  | { progress: CsvImportProgress; failed?: never; summary?: never }
  | { summary: CsvImportSummary; failed?: never; progress?: never };
