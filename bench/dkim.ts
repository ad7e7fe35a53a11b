import { generateKeyPairSync } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { compileStructure } from '#lib/mail/structure.ts';
import type { PrivateKey } from '../services/messages/dkim/signature.ts';
import { createSigning } from '../services/messages/dkim/signing.ts';
import { SigningThreads } from '../services/messages/dkim/threads.ts';
import { MessageBuffer } from '../services/messages/mime/buffer.ts';
import type { MailParts } from '../services/messages/mime/mail.ts';
import { writeMail } from '../services/messages/mime/write.ts';
import type { MailSignature } from '../services/messages/providers/outgoing.ts';
import { ask, end, type SinkStatus, startSink } from './sink-process.ts';
import { compileNewsletter, connections, recipientOf, sendOurs } from './smtp-mails.ts';

const name = 'sender.example';
const rsa: PrivateKey = {
  selector: 'r1',
  algorithm: 'rsa',
  key: generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey,
};
const ed25519: PrivateKey = {
  selector: 'e1',
  algorithm: 'ed25519',
  key: generateKeyPairSync('ed25519').privateKey,
};
const signers: Record<string, readonly PrivateKey[]> = {
  unsigned: [],
  Ed25519: [ed25519],
  'RSA-2048': [rsa],
  both: [rsa, ed25519],
};

/** `others` is the CPU of other threads in microseconds a mail. */
type Figures = { perSecond: number; others: number; delayMs: number };
/** With what the sending thread pays for signing, likewise. */
type SignedFigures = Figures & { share: number };

/**
 * The same mails by our SMTP client into one sink, unsigned and signed: how many go out, what
 * signing costs the threads, and how late the event loop gets. A sender that waits pays more for
 * each mail, whatever it waits for: its share is measured by itself, with a mail under way for each
 * connection and nothing else to do.
 */
export async function benchDkim(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      messages: { type: 'string', default: '5000' },
      rounds: { type: 'string', default: '5' },
      threads: { type: 'string', default: '1' },
    },
  });
  const count = Number(values.messages);
  const program = await compileNewsletter();
  const recipients = Array.from({ length: count }, (_, index) => recipientOf(index));
  const mails: Buffer[] = [];
  for (const recipient of recipients) {
    const write = await program.draftAndCompile(recipient, compileStructure);
    mails.push(bytesOf(write()));
  }
  const sink = await startSink({});
  const threads = new SigningThreads(Number(values.threads));
  const figures = new Map<string, SignedFigures[]>();
  try {
    // The first round warms compilers up.
    for (let round = 0; round <= Number(values.rounds); round += 1) {
      for (const [kind, keys] of Object.entries(signers)) {
        const run = async (signature?: MailSignature) => {
          const send = () => sendOurs(sink.port, program, recipients, signature);
          const measured = await measure(send, count);
          const { total } = await ask<SinkStatus>(sink.control, '/status');
          if (total !== count) throw new Error(`${kind}: ${total} of ${count}`);
          await ask(sink.control, '/reset');
          return measured;
        };
        const own = await run(keys.length > 0 ? signatureBy(keys, threads) : undefined);
        const share = keys.length > 0 ? await shareOf(mails, { keys, threads }) : 0;
        if (round === 0) continue;
        figures.set(kind, [...(figures.get(kind) ?? []), { ...own, share }]);
      }
    }
  } finally {
    await threads.close();
    await end(sink.child);
  }
  report(figures, count);
}

function signatureBy(keys: readonly PrivateKey[], threads: SigningThreads): MailSignature {
  const domain = { name, keys };
  return createSigning({ keysNow: () => domain, read: async () => undefined }, threads)('', name);
}

/** CPU of the thread that has mails signed, in microseconds a mail. */
async function shareOf(
  mails: readonly Buffer[],
  { keys, threads }: { keys: readonly PrivateKey[]; threads: SigningThreads },
): Promise<number> {
  const domain = { name, keys };
  const before = process.threadCpuUsage();
  let begun = 0;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      for (let mail = mails[begun]; mail; mail = mails[begun]) {
        const given = mail;
        begun += 1;
        await new Promise<unknown>((done) => {
          threads.sign({ mail: given, domain: () => domain, read: async () => undefined, done });
        });
      }
    }),
  );
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / mails.length;
}

function bytesOf(parts: MailParts): Buffer {
  const buffer = new MessageBuffer();
  writeMail(buffer, parts);
  return Buffer.from(buffer.written());
}

async function measure(run: () => Promise<void>, count: number): Promise<Figures> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const startedAtMs = performance.now();
  const [all, own] = [process.cpuUsage(), process.threadCpuUsage()];
  await run();
  const seconds = (performance.now() - startedAtMs) / 1_000;
  const { user, system } = process.threadCpuUsage(own);
  const total = process.cpuUsage(all);
  delay.disable();
  return {
    perSecond: count / seconds,
    others: (total.user + total.system - user - system) / count,
    // The histogram has the time between two looks, which is 1 ms without any delay.
    delayMs: delay.percentile(99) / 1e6 - 1,
  };
}

function report(figures: ReadonlyMap<string, readonly SignedFigures[]>, count: number): void {
  const medianOf = (kind: string, what: keyof SignedFigures) => {
    const sorted = (figures.get(kind) ?? []).map((each) => each[what]).toSorted((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)] ?? 0;
  };
  const others = medianOf('unsigned', 'others');
  console.log(`\n  ${count} mails a run, medians; CPU in µs a mail`);
  console.log('  signed by     mails/s   of unsigned   sender   threads   delay p99 (ms)');
  for (const kind of figures.keys()) {
    const perSecond = medianOf(kind, 'perSecond');
    const columns = [
      perSecond.toFixed(0).padStart(8),
      (perSecond / medianOf('unsigned', 'perSecond')).toFixed(2).padStart(14),
      medianOf(kind, 'share').toFixed(1).padStart(9),
      (medianOf(kind, 'others') - others).toFixed(1).padStart(10),
      medianOf(kind, 'delayMs').toFixed(1).padStart(17),
    ];
    console.log(`  ${kind.padEnd(11)}${columns.join('')}`);
  }
}
