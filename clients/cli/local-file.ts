import { readFileSync, statSync } from 'node:fs';
import { UsageError } from './failures.ts';

/** More than any call takes. */
const maxMiB = 16;

/** The text of a file; undefined if there is none. A device or a pipe might never end. */
export function textIn(file: string): string | undefined {
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (!found) return undefined;
    if (!found.isFile()) throw new Error('it is no file');
    if (found.size > maxMiB * 1_024 * 1_024) throw new Error(`it is larger than ${maxMiB} MiB`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw unreadable(file, error);
  }
}

export function unreadable(file: string, error: unknown): UsageError {
  const why = error instanceof Error ? error.message : String(error);
  return new UsageError(`${file} cannot be read: ${why}`);
}
