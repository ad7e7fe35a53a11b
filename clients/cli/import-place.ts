import { createHash } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { CsvImportProgress } from '../typescript/src/csv-import.ts';
import { UsageError } from './failures.ts';

/** How far an import has come, and of what. */
export type ImportPlace = {
  /** The file, and where its rows go: a place of another one is none. */
  of: string;
  /** Counts of all attempts. */
  done: Pick<CsvImportProgress, 'rows' | 'created' | 'updated' | 'failed'>;
  headerBytes: number;
  nextByte: number;
  nextLine: number;
};

/** Keeps the place of an import beside its file. */
export type PlaceKeeper = {
  read(): ImportPlace | undefined;
  /** The import goes on without a place that cannot be kept. */
  keep(place: Omit<ImportPlace, 'of'>): void;
  forget(): void;
};

const nothing: PlaceKeeper = { read: () => undefined, keep() {}, forget() {} };

/**
 * The keeper of a file whose rows go to `target`. It warns once if the place cannot be written.
 */
export function placeKeeper(
  file: string,
  target: object,
  warn: (text: string) => void,
): PlaceKeeper {
  const { size, mtimeMs, isRegular } = statOf(file);
  // A pipe is read once.
  if (!isRegular) return nothing;
  const of = createHash('sha256')
    .update(JSON.stringify([size, mtimeMs, target]))
    .digest('hex');
  const placeFile = `${file}.postrider-import`;
  let isKept = true;
  return {
    read: () => {
      const place = parsed(placeFile);
      return place?.of === of ? place : undefined;
    },
    keep(place) {
      if (!isKept) return;
      try {
        writeFileSync(placeFile, JSON.stringify({ of, ...place }));
      } catch {
        isKept = false;
        warn(`${placeFile} cannot be written, so --resume will begin at the start`);
      }
    },
    forget: () => rmSync(placeFile, { force: true }),
  };
}

function statOf(file: string) {
  try {
    const stats = statSync(file);
    return { size: stats.size, mtimeMs: stats.mtimeMs, isRegular: stats.isFile() };
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${error}`);
  }
}

function parsed(placeFile: string): ImportPlace | undefined {
  try {
    return JSON.parse(readFileSync(placeFile, 'utf8'));
  } catch {
    return undefined;
  }
}
