import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { JournalHeader, JournalLine } from './journal.ts';

export type Journaled = { header: JournalHeader; lines: JournalLine[] };

/** The newest line of each message in a journal; undefined for a file without a header. */
export async function readJournal(path: string): Promise<Journaled | undefined> {
  let header: JournalHeader | undefined;
  const newest = new Map<string, JournalLine>();
  for await (const text of createInterface({ input: createReadStream(path) })) {
    const line = parse(text);
    // A kill may have cut the last line.
    if (line === undefined) break;
    if (header === undefined) header = line as JournalHeader;
    else newest.set(idOf(line as JournalLine), line as JournalLine);
  }
  return header && { header, lines: [...newest.values()] };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function idOf(line: JournalLine): string {
  return line[0] === 'o' ? line[2].id : line[2];
}
