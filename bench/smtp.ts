import { parseArgs } from 'node:util';
import { createTransport } from 'nodemailer';
import PostalMime from 'postal-mime';
import { compileStructure } from '#lib/mail/structure.ts';
import { MessageBuffer } from '../services/messages/mime/buffer.ts';
import type { MailParts } from '../services/messages/mime/mail.ts';
import { writeMail } from '../services/messages/mime/write.ts';
import type { SendOutcome } from '../services/messages/providers/outcome.ts';
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
import { ask, end, type SinkStatus, startSink } from './sink-process.ts';

const host = '127.0.0.1';
/** For both clients; ours opens more only when the server is slow. */
const connections = 16;
const from = 'news@sender.example';
/** Longer than any run takes. */
const leaseMs = 60 * 60_000;

/** A mail as nodemailer gets it: rendered, and as the bytes of ours. */
type Mail = { to: string; subject: string; text: string; html: string; raw: Buffer };
type Figures = { perSecond: number; cpuMicros: number };
type Run = () => Promise<void>;

/**
 * The same mails into the same sink, by our SMTP client and by nodemailer's. Ours renders and
 * encodes each message; nodemailer gets it rendered and encodes it, and in another run gets its
 * bytes and only sends them.
 */
export async function benchSmtp(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      messages: { type: 'string', default: '5000' },
      rounds: { type: 'string', default: '3' },
    },
  });
  const count = Number(values.messages);
  const program = await compileNewsletter();
  const recipients = Array.from({ length: count }, (_, index) => recipientOf(index));
  const mails = await Promise.all(recipients.map((recipient) => mailOf(program, recipient)));
  const sink = await startSink({});
  const runs: Record<string, Run> = {
    ours: () => sendOurs(sink.port, program, recipients),
    nodemailer: () => sendNodemailer(sink.port, mails, false),
    'nodemailer, raw': () => sendNodemailer(sink.port, mails, true),
  };
  try {
    const figures = new Map<string, Figures>();
    // The rounds before the last warm compilers up.
    for (let round = 1; round <= Number(values.rounds); round += 1) {
      for (const [name, run] of Object.entries(runs)) {
        figures.set(name, await measure(run, count));
        const { total, recipients: reached } = await ask<SinkStatus>(sink.control, '/status');
        if (total !== count || reached !== count) throw new Error(`${name}: ${total} of ${count}`);
        await ask(sink.control, '/reset');
      }
    }
    report(mails, figures);
  } finally {
    await end(sink.child);
  }
}

async function compileNewsletter(): Promise<Program> {
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

function recipientOf(number: number): MailRecipient {
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
    urls: { unsubscribe: link('u'), preferences: link('p'), confirm: link('c') },
    trackingToken: '',
  };
}

async function mailOf(program: Program, recipient: MailRecipient): Promise<Mail> {
  const buffer = new MessageBuffer();
  const write = await program.draftAndCompile(recipient, compileStructure);
  writeMail(buffer, write());
  const raw = Buffer.from(buffer.written());
  const { subject = '', text = '', html = '' } = await PostalMime.parse(raw);
  return { to: recipient.email, subject, text, html, raw };
}

function written(write: WriteMail | undefined): MailParts {
  if (!write) throw new Error('the structure of the mail is not compiled');
  return write();
}

async function sendOurs(
  port: number,
  program: Program,
  recipients: MailRecipient[],
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

async function sendNodemailer(port: number, mails: Mail[], isRaw: boolean): Promise<void> {
  const options = { host, port, pool: true as const, maxConnections: connections, ignoreTLS: true };
  const transport = createTransport({ ...options, maxMessages: Number.POSITIVE_INFINITY });
  await Promise.all(
    mails.map(({ raw, ...mail }) =>
      transport.sendMail(
        isRaw ? { envelope: { from, to: mail.to }, raw } : { from: `News <${from}>`, ...mail },
      ),
    ),
  );
  transport.close();
}

async function measure(run: Run, count: number): Promise<Figures> {
  const startedAtMs = performance.now();
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  const seconds = (performance.now() - startedAtMs) / 1_000;
  return { perSecond: count / seconds, cpuMicros: (user + system) / count };
}

function report(mails: readonly Mail[], figures: ReadonlyMap<string, Figures>): void {
  const bytes = mails.reduce((sum, { raw }) => sum + raw.length, 0) / mails.length;
  const ours = figures.get('ours');
  console.log(`\n  ${mails.length} mails of ${(bytes / 1024).toFixed(1)} KB, the last round`);
  console.log('  client            messages/s   CPU µs/message   CPU, times ours');
  for (const [name, { perSecond, cpuMicros }] of figures) {
    const times = cpuMicros / (ours?.cpuMicros ?? cpuMicros);
    const columns = [
      perSecond.toFixed(0).padStart(10),
      cpuMicros.toFixed(0).padStart(17),
      times.toFixed(1).padStart(18),
    ];
    console.log(`  ${name.padEnd(18)}${columns.join('')}`);
  }
}
