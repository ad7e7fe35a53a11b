import { KillableThread } from '#lib/killable-thread.ts';
import { type ArrivedMail, type MailVerdict, nothing } from './verdict.ts';

/** A mail of the greatest size with ten signatures takes a tenth of it. */
const timeMs = 3_000;
const startMs = 6_000;
const memoryMb = 256;
const waitingMax = 20;

export type Verifier = {
  /** Throws where too many mails wait. */
  verify(mail: ArrivedMail): Promise<MailVerdict>;
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
      ...{ timeMs, startMs, memoryMb, waitingMax },
    },
  );
  return {
    async verify(mail) {
      const verdict = await thread.ask(() => mail);
      return verdict ?? { ...nothing, problem: 'the mail took too long to verify' };
    },
    close: () => thread.close(),
  };
}
