import type { FileHandle } from 'node:fs/promises';
import type { Mail } from './mail.ts';

export type SegmentRecord = { mail: Mail; offset: number; length: number };

/**
 * Reads the records of a file: a line of JSON with the length of what follows, the mail, a line
 * end. A record that a kill cut short ends the file; the next record overwrites it.
 */
export async function readSegment(
  file: FileHandle,
): Promise<{ records: SegmentRecord[]; size: number }> {
  const bytes = await file.readFile();
  const records: SegmentRecord[] = [];
  let size = 0;
  for (;;) {
    const lineEnd = bytes.indexOf('\n', size);
    const head = lineEnd < 0 ? undefined : parseHead(bytes.toString('utf8', size, lineEnd));
    const offset = lineEnd + 1;
    if (head === undefined || bytes[offset + head.length] !== 0x0a) break;
    records.push({ ...head, offset });
    size = offset + head.length + 1;
  }
  return { records, size };
}

function parseHead(line: string): { mail: Mail; length: number } | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
