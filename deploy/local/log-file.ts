import { appendFileSync, renameSync, statSync } from 'node:fs';

const bytesMax = 10_000_000;

/**
 * Appends to a file; when it is full it becomes `<file>.1`, replacing the one before. Text that
 * cannot be written, as on a full disk, is left out, and the file says so once it can: a log must
 * not end the process that writes it.
 */
export function openLogFile(file: string): (text: string) => void {
  let bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  let missingBytes = 0;
  const append = (text: string) => {
    if (bytes > bytesMax) {
      // Also where it cannot be renamed, such as one that was removed.
      bytes = 0;
      renameSync(file, `${file}.1`);
    }
    appendFileSync(file, text, { mode: 0o600 });
    bytes += Buffer.byteLength(text);
  };
  return (text) => {
    try {
      if (missingBytes > 0) append(`\n${missingBytes} bytes could not be written here\n`);
      missingBytes = 0;
      append(text);
    } catch {
      missingBytes += Buffer.byteLength(text);
    }
  };
}

/** A short form of a log line for the terminal: crashes and errors only. */
export function errorText(line: string): string | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const { level, msg, err } = JSON.parse(line);
    if (typeof level !== 'number' || level < 50) return undefined;
    return [msg, err?.message].filter(Boolean).join(': ');
  } catch {
    return undefined;
  }
}

const thrown = /^\s*(\w*(?:[Ee]rror|Exception)(?: \[\w+\])?: \S.*)$/;

/**
 * Why a process ended, from its output: an error in its log, or the first error that Node prints.
 */
export function crashText(text: string): string | undefined {
  const lines = text.split('\n');
  const logged = lines.map(errorText).findLast(Boolean);
  return logged ?? lines.map((line) => thrown.exec(line)?.[1]).find(Boolean);
}
