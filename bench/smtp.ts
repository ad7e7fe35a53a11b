import { parseArgs } from 'node:util';
import { createTransport } from 'nodemailer';
import PostalMime from 'postal-mime';
import { compileStructure } from '#lib/mail/structure.ts';
import { MessageBuffer } from '../services/messages/mime/buffer.ts';
import { writeMail } from '../services/messages/mime/write.ts';
import type { MailRecipient } from '../services/messages/render/compose.ts';
import type { Program } from '../services/messages/render/program.ts';
import { ask, end, type SinkStatus, startSink } from './sink-process.ts';
import { compileNewsletter, connections, from, host, recipientOf, sendOurs } from './smtp-mails.ts';

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

async function mailOf(program: Program, recipient: MailRecipient): Promise<Mail> {
  const buffer = new MessageBuffer();
  const write = await program.draftAndCompile(recipient, compileStructure);
  writeMail(buffer, write());
  const raw = Buffer.from(buffer.written());
  const { subject = '', text = '', html = '' } = await PostalMime.parse(raw);
  return { to: recipient.email, subject, text, html, raw };
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
