import type { ReturnPathMail } from '#lib/keys/return-path.ts';
import { oneLine } from '../one-line.ts';
import { diagnosticLength, type Report } from '../report.ts';
import { mailReportKey, type ReturnedMessage } from './kept.ts';
import type { MailStatement } from './statement.ts';
import { readStatements } from './statements.ts';

const wordLength = 100;
/** Of one mail; it has one recipient and few copies. */
const reportsMax = 10;
const rawMaxBytes = 8 * 1_024 - 4;

/**
 * The reports in a mail about a message. One that names nobody is about the contact; what is said
 * about others is stored and fits no message.
 */
export async function reportsIn(
  mail: Uint8Array,
  about: ReturnPathMail & ReturnedMessage & { digest: string },
): Promise<Report[]> {
  const { messageId, digest, email } = about;
  const { at, statements } = await readStatements(mail);
  const isOfContact = ({ recipients }: MailStatement) =>
    recipients.length === 0 || recipients.includes(email);
  const own = statements.filter(isOfContact);
  const others = statements.filter((statement) => !isOfContact(statement));
  return [...own, ...others].slice(0, reportsMax).map((statement, place): Report => {
    const isOwn = place < own.length;
    return {
      ...{ messageId, at, type: statement.type, class: statement.class, providerId: undefined },
      key: mailReportKey(messageId, digest, place),
      email: isOwn ? email : (statement.recipients[0] ?? ''),
      category: oneLine(statement.category, wordLength),
      diagnostic: oneLine(statement.words, diagnosticLength),
      complaintType: oneLine(statement.complaintType, wordLength),
      // The mail has the address of the contact, with whom a row of another is not deleted.
      raw: isOwn ? beginningOf(mail) : '',
    };
  });
}

function beginningOf(mail: Uint8Array): string {
  const text = new TextDecoder().decode(mail.subarray(0, rawMaxBytes));
  return Buffer.from(text).subarray(0, rawMaxBytes).toString();
}
