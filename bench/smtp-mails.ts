import type { MailParts } from '../services/messages/mime/mail.ts';
import type { SendOutcome } from '../services/messages/providers/outcome.ts';
import type { MailSignature } from '../services/messages/providers/outgoing.ts';
import { SmtpPool } from '../services/messages/providers/smtp/pool.ts';
import type { Envelope, MailRecipient } from '../services/messages/render/compose.ts';
import { renderFailureInfo } from '../services/messages/render/failure.ts';
import {
  compileMessage,
  type Program,
  type WriteMail,
} from '../services/messages/render/program.ts';
import { createCompiler } from '../services/templates/compile/compiler.ts';
import { mjmlSource } from '../services/templates/compile/source.ts';
import { newsletter } from './newsletter.ts';

export const host = '127.0.0.1';
/** Ours opens more only when the server is slow. */
export const connections = 16;
export const from = 'news@sender.example';
/** Longer than any run takes. */
const leaseMs = 60 * 60_000;

export async function compileNewsletter(): Promise<Program> {
  const subject = 'Hello {{ contact.first_name }}';
  const compiler = createCompiler();
  const head = { title: subject, preview: '', language: 'en' };
  const { whole } = await compiler.compile(mjmlSource(newsletter), head, {});
  await compiler.close();
  const envelope: Envelope = {
    from: { email: from, name: 'News' },
    replyTo: '',
    list: { id: 'bench', name: 'Bench' },
    canBeLeft: true,
    feedbackId: ['bench', 'bench', 'broadcast', 'postrider'],
    values: { workspace: { base_url: 'https://mail.example' } },
    utm: { source: 'bench', medium: 'email' },
  };
  return compileMessage({ subject, html: '', mjml: whole, text: '' }, envelope);
}

export function recipientOf(number: number): MailRecipient {
  const email = `person${number}@example.com`;
  const link = (kind: string) => `https://mail.example/${kind}/bench/${'a'.repeat(43)}`;
  return {
    messageId: crypto.randomUUID(),
    email,
    contact: {
      email,
      external_id: `id-${number}`,
      first_name: `Person ${number}`,
      last_name: 'Müller',
      language: 'en',
      custom_string_1: 'Ashford',
      custom_number_1: number,
    },
    urls: {
      unsubscribe: link('u'),
      preferences: link('p'),
      confirm: link('c'),
      webVersion: link('w'),
    },
    trackingToken: '',
  };
}

function written(write: WriteMail | undefined): MailParts {
  if (!write) throw new Error('the structure of the mail is not compiled');
  return write();
}

/** Sends by our SMTP client, which renders and encodes each message. */
export async function sendOurs(
  port: number,
  program: Program,
  recipients: readonly MailRecipient[],
  signature?: MailSignature,
): Promise<void> {
  const settings = {
    ...{ host, port, username: '', password: '', useTls: false },
    ehloHostname: 'bench.example',
  };
  const resolve = async () => ({ address: host, family: 4 as const });
  const pool = new SmtpPool({ settings, resolve, connections });
  const { signal } = new AbortController();
  const leaseUntilMs = Date.now() + leaseMs;
  const jobs = recipients.map((recipient) => {
    const { promise, resolve: settle } = Promise.withResolvers<SendOutcome>();
    const prepare = () => written(program.draft(recipient));
    const failureInfo = renderFailureInfo;
    const to = recipient.email;
    return {
      outgoing: {
        id: recipient.messageId,
        from,
        to,
        startsUntilMs: leaseUntilMs,
        held: { leaseUntilMs },
        signal,
        prepare,
        signature,
        failureInfo,
        settle,
        copies: [],
        refusedCopies: 0,
        lost: 0,
      },
      promise,
    };
  });
  pool.send(jobs.map(({ outgoing }) => outgoing));
  await Promise.all(jobs.map(({ promise }) => promise));
  pool.close();
}
