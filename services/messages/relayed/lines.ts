import { ownTurn } from '#lib/limits/turns.ts';

const [nul, lf, cr, dot] = [0x00, 0x0a, 0x0d, 0x2e];
/** Read in one turn of the event loop, in about a millisecond. */
const portionBytes = 1024 * 1024;

export type Lines = {
  /** The first fault; absent if there is none. */
  fault?: string;
  /** Dots that begin a line: a mail server gets one more for each. */
  dots: number;
};

/**
 * Reads the lines of a mail. Mail servers disagree about a CR or LF that stands alone, which may so
 * hide the end of a mail and commands behind it (CVE-2023-51764).
 */
export async function readLines(mail: Buffer): Promise<Lines> {
  let dots = 0;
  let before = lf;
  for (let start = 0; start < mail.length; start += portionBytes) {
    if (start > 0) await ownTurn();
    for (const byte of mail.subarray(start, start + portionBytes)) {
      if (byte === nul) return { fault: 'the mail has a NUL character', dots };
      if ((byte === lf) !== (before === cr)) {
        // The mail begins as if a line end stood before it.
        return { fault: 'the mail has a CR or LF that stands alone', dots };
      }
      if (byte === dot && before === lf) dots += 1;
      before = byte;
    }
  }
  return before === cr ? { fault: 'the mail has a CR or LF that stands alone', dots } : { dots };
}
