import { Code } from '@connectrpc/connect';
import { retryLater } from '#lib/errors/errors.ts';
import { KillableThread, ThreadBusyError } from '#lib/killable-thread.ts';
import { headOf } from '../mime/head.ts';
import { type ReadMail, readMail } from './read-mail.ts';

/** A mail of 1 MiB of the usual kind takes a tenth of it. */
const timeMs = 1_000;
const startMs = 3_000;
const memoryMb = 128;
const waitingMax = 50;
const tenantWaitingMax = 10;

/** A mail within these, of no other parts than usual ones, takes some milliseconds. */
const quickMaxBytes = 64 * 1024;
const headMaxBytes = 16 * 1024;
const boundariesMax = 50;
const linesMax = 1_500;
const boundary = /\n--/g;
const line = /\n|=0a/gi;
/** Fields that say how a part is read, and those of them that each mail of ours has. */
const partField = /content-(?:type|transfer-encoding)/gi;
const usualField =
  /^content-(?:type: (?:text\/(?:plain|html); charset="?utf-8"?|multipart\/(?:alternative|mixed|related);\s+boundary="[^"\s]+")|transfer-encoding: (?:quoted-printable|[78]bit))\r\n(?![ \t])/gim;

/** `mail` is undefined where it cannot be read. */
export type ReadAnswer = { mail: ReadMail | undefined };

/**
 * Reads mails as they were sent. One that is large, or has many parts, lines or addresses or rare
 * kinds of parts, is read in a thread that is killed where it takes too long: the parser takes ten
 * seconds and more for a mail of 1 MiB that is made for this.
 */
export class MailReader {
  readonly #thread = new KillableThread<Uint8Array, ReadAnswer>(
    new URL('./read-mail-worker.ts', import.meta.url),
    { timeMs, startMs, memoryMb, waitingMax, tenantWaitingMax },
  );

  /**
   * Undefined for a mail that cannot be read, or takes too long. Tenants take turns; throws where
   * too many of their mails wait. `worked` gets the time that it took of the caller's thread.
   */
  async read(
    mail: Buffer,
    tenant: string,
    worked: (ms: number) => void = () => undefined,
  ): Promise<ReadMail | undefined> {
    if (isQuick(mail)) {
      const beganMs = performance.now();
      return readMail(mail).finally(() => worked(performance.now() - beganMs));
    }
    try {
      return (await this.#thread.ask(() => mail, { tenant }))?.mail;
    } catch (error) {
      if (!(error instanceof ThreadBusyError)) throw error;
      throw retryLater('too many mails are being read', Code.ResourceExhausted, 1_000);
    }
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}

/** Mails within mails, lines that flow and empty lines take half a second and more in 64 KiB. */
function isQuick(mail: Buffer): boolean {
  if (mail.length > quickMaxBytes || headOf(mail).length > headMaxBytes) return false;
  const text = mail.toString('latin1');
  return (
    count(text, boundary) < boundariesMax &&
    count(text, line) <= linesMax &&
    count(text, partField) === count(text, usualField)
  );
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
