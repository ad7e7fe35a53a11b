import { renameSync, writeFileSync } from 'node:fs';

/** Replaces a file in one step, readable by its owner only. */
export function writePrivately(file: string, text: string): void {
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, text, { mode: 0o600 });
  renameSync(fresh, file);
}
