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

/** A mail within these takes some milliseconds, whoever wrote it. */
const [quickMaxBytes, headMaxBytes, boundariesMax] = [64 * 1024, 16 * 1024, 50];

/** `mail` is undefined where it cannot be read. */
export type ReadAnswer = { mail: ReadMail | undefined };

/**
 * Reads mails as they were sent. One that is large, or has many parts or addresses, is read in a
 * thread that is killed where it takes too long: the parser takes ten seconds and more for a mail
 * of 1 MiB that is made for this.
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

function isQuick(mail: Buffer): boolean {
  if (mail.length > quickMaxBytes || headOf(mail).length > headMaxBytes) return false;
  return mail.toString('latin1').split('\n--', boundariesMax + 1).length <= boundariesMax;
}
