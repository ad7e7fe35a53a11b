import { setTimeout as sleep } from 'node:timers/promises';
import { createTransport } from 'nodemailer';

/*
 * Mails to some addresses come back, as on the internet: the inbox answers as a mail server that
 * has no such mailbox (`bounce@`), one whose mailbox is full (`soft@`), and the provider of a
 * reader who calls it spam (`complaint@`). Words behind a plus make addresses that differ.
 */

const returning = /^(bounce|soft|complaint)(?:\+[^@]*)?@returns\.example$/i;
/** About as long as mail servers take; the sender has recorded by then that the mail was sent. */
const afterMs = 500;

type Arrived = { from: string; to: readonly string[] };

/** Sends what a mail causes to its return path. It is tried once. */
export async function sendBack({ from, to }: Arrived, port: number): Promise<void> {
  for (const recipient of to) {
    const kind = returning.exec(recipient)?.[1]?.toLowerCase();
    if (!kind || !from.startsWith('b-')) continue;
    await sleep(afterMs);
    const tls = { rejectUnauthorized: false };
    const transport = createTransport({ host: '127.0.0.1', port, tls });
    const sender = kind === 'complaint' ? 'feedback@returns.example' : '';
    const raw = kind === 'complaint' ? feedbackOf(recipient) : notificationOf(kind, recipient);
    await transport.sendMail({ envelope: { from: sender, to: from }, raw });
    transport.close();
  }
}

function notificationOf(kind: string, recipient: string): string {
  const [status, reason] =
    kind === 'soft' ? ['5.2.2', '552 5.2.2 mailbox full'] : ['5.1.1', '550 5.1.1 no such user'];
  return report('delivery-status', {
    from: 'Mail Delivery System <MAILER-DAEMON@returns.example>',
    subject: 'Undelivered Mail Returned to Sender',
    text: `I am sorry to have to inform you that your message could not be delivered.\r\n\r\n<${recipient}>: ${reason}`,
    fields: [
      'Reporting-MTA: dns; returns.example',
      '',
      `Final-Recipient: rfc822; ${recipient}`,
      'Action: failed',
      `Status: ${status}`,
      `Diagnostic-Code: smtp; ${reason}`,
    ],
  });
}

function feedbackOf(recipient: string): string {
  return report('feedback-report', {
    from: 'feedback@returns.example',
    subject: 'A reader calls your mail spam',
    text: 'This is an e-mail abuse report.',
    fields: [
      'Feedback-Type: abuse',
      'User-Agent: Postrider-Inbox/1.0',
      'Version: 1',
      `Original-Rcpt-To: <${recipient}>`,
    ],
  });
}

type ReportText = { from: string; subject: string; text: string; fields: readonly string[] };

/** A multipart/report (RFC 6522) without the mail that it is about. */
function report(type: string, { from, subject, text, fields }: ReportText): string {
  const boundary = crypto.randomUUID();
  return [
    `From: ${from}`,
    `Subject: ${subject}`,
    `Date: ${new Date().toUTCString().replace('GMT', '+0000')}`,
    `Message-ID: <${boundary}@returns.example>`,
    'MIME-Version: 1.0',
    `Content-Type: multipart/report; report-type=${type}; boundary="${boundary}"`,
    ...['', `--${boundary}`, 'Content-Type: text/plain', '', text],
    ...[`--${boundary}`, `Content-Type: message/${type}`, '', ...fields, ''],
    ...[`--${boundary}--`, ''],
  ].join('\r\n');
}
