import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { noPostfix, type Postfix, startPostfix } from '../test/postfix/postfix.ts';
import { type BenchStack, startBenchStack } from './bench-stack.ts';
import { readPids, usageOf } from './processes.ts';
import { SmtpCaller } from './smtp-caller.ts';

/** A server that takes mails and relays them to the sink. */
type Door = {
  name: string;
  domain: string;
  open: (number: number) => Promise<SmtpCaller>;
  /** Its processes. */
  pids: () => Record<string, number>;
};

type Figures = { perSecond: number; drainedPerSecond: number; cpuMicros: number; times: number[] };

const from = 'hello@example.com';
const mailBytes = 10_000;
const drainMaxMs = 180_000;
const lookMs = 100;
/** As the connections of a load balancer, since one address has no more than 50. */
const proxy = '127.0.0.1';

/**
 * Mails of 10 KB by SMTP into the relay and into Postfix, in turn, on the same cores, with the same
 * client and the same sink: how many get their 250 a second and after which time, when all have
 * arrived, and the CPU of each one's processes.
 */
export async function benchRelay(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string', default: '15' },
      connections: { type: 'string', default: '1,16,64' },
      rounds: { type: 'string', default: '2' },
      port: { type: 'string', default: '5490' },
      'without-postfix': { type: 'boolean', default: false },
    },
  });
  const reason = values['without-postfix'] ? 'it is not asked for' : noPostfix();
  if (reason !== '') console.log(`Postfix is left out: ${reason}`);
  const stack = await startBenchStack({ variables: { RELAY_PROXIES: proxy } });
  const spool = mkdtempSync(join(tmpdir(), 'postrider-spool-'));
  let postfix: Postfix | undefined;
  try {
    if (reason === '') {
      const domains = { 'postfix.example': stack.sink.port };
      postfix = await startPostfix(Number(values.port), domains, { spool });
    }
    const doors = [relayOf(stack), ...(postfix ? [doorOf(postfix)] : [])];
    for (let round = 1; round <= Number(values.rounds); round += 1) {
      console.log(`\nround ${round} of ${values.rounds}; the first warms up`);
      for (const connections of values.connections.split(',').map(Number)) {
        const load = { connections, seconds: Number(values.seconds), round };
        const figures: Figures[] = [];
        for (const door of doors) figures.push(await measure(stack, door, load));
        report(connections, doors, figures);
      }
    }
  } finally {
    await postfix?.stop();
    await stack.stop();
    rmSync(spool, { recursive: true, force: true });
  }
}

function relayOf(stack: BenchStack): Door {
  const port = Number(new URL(stack.setting('RELAY_URL')).port);
  const password = stack.setting('TOKEN');
  return {
    name: 'relay',
    domain: 'relay.example',
    open: (number) =>
      SmtpCaller.open({
        ...{ port, from, password },
        proxyLine: `PROXY TCP4 10.0.0.${number + 1} ${proxy} 40000 ${port}\r\n`,
      }),
    pids: () => readPids(stack.folder),
  };
}

function doorOf({ port, pid }: Postfix): Door {
  return {
    name: 'postfix',
    domain: 'postfix.example',
    open: () => SmtpCaller.open({ port, from }),
    pids: () => ({ postfix: pid }),
  };
}

type Load = { connections: number; seconds: number; round: number };

/** A closed loop on each connection, then the wait until all mails have arrived. */
async function measure(
  { sink }: BenchStack,
  { name, domain, open, pids }: Door,
  { connections, seconds, round }: Load,
): Promise<Figures> {
  await sink.reset();
  const callers = await Promise.all(Array.from({ length: connections }, (_, at) => open(at)));
  const times: number[] = [];
  const cpuBefore = cpuOf(pids());
  const startedAtMs = performance.now();
  const loop = async (caller: SmtpCaller, number: number) => {
    for (let count = 0; performance.now() - startedAtMs < seconds * 1_000; count += 1) {
      const to = `${name}-${round}-${connections}-${number}-${count}@${domain}`;
      times.push(await caller.send(to, mailTo(to)));
    }
  };
  await Promise.all(callers.map(loop));
  const tookMs = performance.now() - startedAtMs;
  for (const caller of callers) caller.close();
  const giveUpAtMs = Date.now() + drainMaxMs;
  while ((await sink.status()).recipients < times.length) {
    if (Date.now() > giveUpAtMs) throw new Error(`mails of ${name} did not arrive`);
    await sleep(lookMs);
  }
  const { total } = await sink.status();
  if (total !== times.length) throw new Error(`${name}: ${total} mails of ${times.length}`);
  const drainedMs = performance.now() - startedAtMs;
  return {
    perSecond: (times.length / tookMs) * 1_000,
    drainedPerSecond: (times.length / drainedMs) * 1_000,
    cpuMicros: ((cpuOf(pids()) - cpuBefore) * 1_000) / times.length,
    times: times.toSorted((a, b) => a - b),
  };
}

function cpuOf(pids: Record<string, number>): number {
  return [...usageOf(pids).values()].reduce((sum, { cpuMs }) => sum + cpuMs, 0);
}

const line = `${'The quick brown fox jumps over the lazy dog. '.repeat(2).trim()}\r\n`;
const body = line.repeat(Math.ceil(mailBytes / line.length)).slice(0, -2);

function mailTo(to: string): string {
  const date = new Date().toUTCString().replace('GMT', '+0000');
  return [
    `From: News <${from}>`,
    `To: ${to}`,
    'Subject: Your order',
    `Date: ${date}`,
    `Message-ID: <${to}>`,
    '',
    body,
  ].join('\r\n');
}

function report(connections: number, doors: readonly Door[], all: readonly Figures[]): void {
  console.log(
    `\n  ${connections} connections     250/s   arrived/s   p50 ms   p99 ms   CPU µs/mail`,
  );
  doors.forEach(({ name }, index) => {
    const figures = all[index];
    if (!figures) return;
    const { perSecond, drainedPerSecond, cpuMicros, times } = figures;
    const columns = [
      perSecond.toFixed(0).padStart(8),
      drainedPerSecond.toFixed(0).padStart(12),
      share(times, 0.5).toFixed(1).padStart(9),
      share(times, 0.99).toFixed(1).padStart(9),
      cpuMicros.toFixed(0).padStart(14),
    ];
    console.log(`  ${name.padEnd(16)}${columns.join('')}`);
  });
  const [ours, other] = all;
  if (!ours || !other) return;
  const ratios = [
    `250/s ${(ours.perSecond / other.perSecond).toFixed(2)}`,
    `p50 ${(share(ours.times, 0.5) / share(other.times, 0.5)).toFixed(2)}`,
    `p99 ${(share(ours.times, 0.99) / share(other.times, 0.99)).toFixed(2)}`,
    `CPU ${(ours.cpuMicros / other.cpuMicros).toFixed(2)}`,
  ];
  console.log(`  relay to postfix: ${ratios.join(', ')}`);
}

const share = (sorted: readonly number[], of: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * of))] ?? 0;
