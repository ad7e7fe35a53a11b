import { Code } from '@connectrpc/connect';
import { retryLater } from '#lib/errors/errors.ts';
import { KillableThread, ThreadBusyError } from '#lib/killable-thread.ts';
import { type ArrivedMail, type MailVerdict, nothing } from './verdict.ts';

/** A mail of the greatest size with ten signatures takes a tenth of it. */
const timeMs = 3_000;
const startMs = 6_000;
const memoryMb = 256;
const waitingMax = 20;
const tenantWaitingMax = 2;

export type Verifier = {
  /** Throws at once where too many mails wait. Tenants take turns. */
  verify(mail: ArrivedMail, tenant: string): Promise<MailVerdict>;
  close(): Promise<void>;
};

/**
 * Verifies mails one after the other in a thread, which is killed where a mail takes too long: the
 * mail is somebody else's, and the library reads it by regular expressions.
 */
export function startVerifier(): Verifier {
  const thread = new KillableThread<ArrivedMail, MailVerdict>(
    new URL('./worker.ts', import.meta.url),
    {
      ...{ timeMs, startMs, memoryMb, waitingMax, tenantWaitingMax },
    },
  );
  return {
    verify: (mail, tenant) =>
      ask(thread, mail, tenant).then(
        (verdict) => verdict ?? { ...nothing, problem: 'the mail took too long to verify' },
      ),
    close: () => thread.close(),
  };
}

function ask(
  thread: KillableThread<ArrivedMail, MailVerdict>,
  mail: ArrivedMail,
  tenant: string,
): Promise<MailVerdict | undefined> {
  try {
    return thread.ask(() => mail, { tenant }).catch(refuse);
  } catch (error) {
    return refuse(error);
  }
}

/** For want of room, or since the thread is closed. */
function refuse(error: unknown): never {
  if (!(error instanceof ThreadBusyError)) throw error;
  throw retryLater('too many test mails are being verified', Code.ResourceExhausted, 1_000);
}
