import { isAutomatic } from './automatic.ts';
import { statementsOfStatus } from './delivery-status.ts';
import { statementsOfFeedback } from './feedback.ts';
import { parseReturnedMail, type ReturnedMail } from './parse.ts';
import { plainBounce, reasonIn } from './plain-bounce.ts';
import { type MailStatement, saysNothing } from './statement.ts';
import { classOfWords } from './words.ts';

export type MailStatements = {
  /** When the mail was written, as it says. */
  at: Date | undefined;
  statements: MailStatement[];
};

/**
 * Reads a mail to a return path, by the first form that it has: a delivery status notification, a
 * feedback report, a bounce in words, an answer of a program such as that of a vacation. That a
 * mail was sent by a program decides last, since servers mark their notifications so, too.
 */
export async function readStatements(bytes: Uint8Array): Promise<MailStatements> {
  const mail = await parseReturnedMail(bytes);
  if (!mail) return { at: undefined, statements: [saysNothing] };
  return { at: dateIn(mail.header('date')), statements: statementsOf(mail) };
}

function statementsOf(mail: ReturnedMail): MailStatement[] {
  const statuses = mail.statuses.flatMap(statementsOfStatus);
  if (statuses.length > 0) return statuses.map((status) => withReason(status, mail));
  const feedbacks = mail.feedbacks.flatMap(statementsOfFeedback);
  if (feedbacks.length > 0) return feedbacks;
  const bounce = plainBounce(mail);
  if (bounce) return bounce;
  return [isAutomatic(mail) ? { ...saysNothing, class: 'auto' } : saysNothing];
}

/** Servers that know no more than the first digit may say the rest to people. */
function withReason(status: MailStatement, mail: ReturnedMail): MailStatement {
  if (status.class !== 'unknown') return status;
  const words = reasonIn(mail);
  const found = classOfWords(words);
  return found === 'unknown' ? status : { ...status, class: found, words };
}

/** Beyond 9999 PostgreSQL does not take the form of a date. */
function dateIn(text: string): Date | undefined {
  const date = new Date(text.slice(0, 100));
  return date.getTime() > 0 && date.getUTCFullYear() < 10_000 ? date : undefined;
}
