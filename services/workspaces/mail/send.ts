import { type Client, Code, ConnectError } from '@connectrpc/connect';
import type { SystemMailService } from '#gen/postrider/messages/v1/messages_pb.ts';
import type { Log } from '#lib/log.ts';
import { filled } from './words.ts';

export type SystemMailer = Pick<Client<typeof SystemMailService>, 'sendSystemMail'>;

type Letter = {
  /** Names the kind of mail in the log. */
  kind: string;
  key: string;
  to: string;
  subject: string;
  text: string;
  values: Record<string, string | number>;
};

const subjectMax = 200;

/**
 * Mails a person. Throws where a later try may succeed. The log has neither the address nor the
 * text.
 */
export async function sendLetter(
  { systemMail }: { systemMail: SystemMailer },
  log: Pick<Log, 'warn'>,
  { kind, key, to, subject, text, values }: Letter,
): Promise<void> {
  try {
    await systemMail.sendSystemMail({
      key,
      to,
      subject: filled(subject, values).slice(0, subjectMax),
      text: `${filled(text, values)}\n`,
    });
  } catch (error) {
    const { code, rawMessage } = ConnectError.from(error);
    if (code !== Code.FailedPrecondition && code !== Code.InvalidArgument) throw error;
    log.warn({ kind, reason: rawMessage }, 'a mail to a person cannot be sent');
  }
}
