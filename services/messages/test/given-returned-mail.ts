import { query } from '#lib/postgres/query.ts';
import type { Given } from './given.ts';

const mailDate = () => new Date().toUTCString().replace('GMT', '+0000');
const from = 'Mail Delivery System <MAILER-DAEMON@mx.example.net>';

type StatusOf = {
  action?: string;
  status?: string;
  diagnostic?: string;
  /** Fields beside these. */
  more?: string[];
};

/** A delivery status notification, as Postfix writes it. */
export function dsnOf(
  email: string,
  { action = 'failed', status = '5.1.1', diagnostic = '', more = [] }: StatusOf = {},
): Buffer {
  const fields = [
    `Final-Recipient: rfc822; ${email}`,
    `Original-Recipient: rfc822;${email}`,
    `Action: ${action}`,
    `Status: ${status}`,
    ...(diagnostic ? [`Diagnostic-Code: smtp; ${diagnostic}`] : []),
    ...more,
  ];
  const report = ['Reporting-MTA: dns; mx.example.net', '', ...fields, ''];
  return mailOf(
    { subject: 'Undelivered Mail Returned to Sender', more: ['Auto-Submitted: auto-replied'] },
    { type: 'delivery-status', text: 'This is the mail system.', report },
  );
}

/** A feedback report of a mailbox provider. */
export function feedbackOf(type: string, fields: string[] = []): Buffer {
  const report = [`Feedback-Type: ${type}`, 'User-Agent: Some/1.0', 'Version: 1', ...fields, ''];
  return mailOf(
    { subject: 'Email abuse report', sender: 'feedback@mailbox.example' },
    { type: 'feedback-report', text: 'This is an abuse report.', report },
  );
}

export function plainMail(headers: string[], text: string): Buffer {
  return Buffer.from([...headers, `Date: ${mailDate()}`, '', text, ''].join('\r\n'));
}

export const vacationOf = (email: string): Buffer =>
  plainMail(
    [`From: ${email}`, 'Subject: Out of office', 'Auto-Submitted: auto-replied'],
    'I am away. For user unknown errors write to the postmaster.',
  );

function mailOf(
  { subject, sender = from, more = [] }: { subject: string; sender?: string; more?: string[] },
  { type, text, report }: { type: string; text: string; report: string[] },
): Buffer {
  const boundary = crypto.randomUUID();
  const lines = [
    ...[`From: ${sender}`, `Subject: ${subject}`, `Date: ${mailDate()}`, ...more],
    `Message-ID: <${boundary}@mx.example.net>`,
    'MIME-Version: 1.0',
    `Content-Type: multipart/report; report-type=${type}; boundary="${boundary}"`,
    ...['', `--${boundary}`, 'Content-Type: text/plain', '', text],
    ...['', `--${boundary}`, `Content-Type: message/${type}`, '', ...report],
    ...[`--${boundary}`, 'Content-Type: text/rfc822-headers', '', 'Subject: Hello', ''],
    `--${boundary}--`,
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n`);
}

/** The rows of mails that came back, the oldest first. */
export const returnedRows = ({ store }: Pick<Given, 'store'>, messageId: string) =>
  query<{ email: string; state: string; type: string; class: string | null; kept: boolean }>(
    store.fork(),
    `select email, state, type, class, raw is not null as kept from inbound_reports
     where message_id = $1 and source = 'mail' order by received_at, event_key`,
    [messageId],
  );
