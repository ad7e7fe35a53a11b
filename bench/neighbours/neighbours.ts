import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { attacks, type Site } from '../../test/attacks/attacks.ts';
import { type Experience, givenNeighbour, type Neighbour } from '../../test/attacks/neighbour.ts';
import { givenTenant } from '../../test/attacks/tenant.ts';
import { ownerToken } from '../../test/stack/owner.ts';
import { type BenchStack, startBenchStack } from '../bench-stack.ts';
import { ask, end } from '../sink-process.ts';

const perSecond = 20;
const mails = 100;
const ratioMax = 3;
const mailLateMs = 5_000;
const mailGiveUpMs = 60_000;
/** Between attacks, so that the work of one is not counted for the next. */
const settleMs = 3_000;

type Figures = {
  p50Ms: number;
  p99Ms: number;
  failed: number;
  limited: number;
  latestMailMs: number;
};

/** How a tenant fares beside each attack: 20 reads and writes a second and 100 mails. Exits 1 where a goal is missed. */
export async function benchNeighbours(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string', default: '40' },
      only: { type: 'string', default: '' },
    },
  });
  const seconds = Number(values.seconds);
  const stack = await startBenchStack({ variables: limitsAsShipped });
  try {
    const site = await siteOf(stack);
    const neighbour = await givenNeighbour(await givenTenant(site.baseUrl, site));
    const live = (from?: Promise<unknown>) => measure(stack, neighbour, { seconds, from });
    // The first round warms compilers and caches up.
    await live();
    const quiet = await live();
    print('quiet', quiet, quiet);
    for (const { name } of attacks.filter((each) => each.name.includes(values.only))) {
      const attacking = sleep(settleMs).then(() => begin(name, site));
      const beside = await live(attacking);
      const attack = await attacking;
      const tally = await attack.stop();
      print(name, beside, quiet, tally);
    }
  } finally {
    await stack.stop();
  }
}

/** Empty variables count as not set. */
const limitsAsShipped = {
  REQUESTS_PER_SECOND_OF_KEY: '',
  REQUESTS_PER_SECOND_OF_WORKSPACE: '',
  REQUESTS_PER_SECOND_OF_ADDRESS: '',
};

async function siteOf({ setting, sink }: BenchStack): Promise<Site> {
  const baseUrl = setting('BASE_URL');
  const settings = {
    BASE_URL: baseUrl,
    ROOT_EMAIL: setting('ROOT_EMAIL'),
    SECRET_KEY: setting('SECRET_KEY'),
  };
  return { baseUrl, owner: await ownerToken(settings), smtpPort: sink.port };
}

async function begin(name: string, site: Site) {
  const child = fork(join(import.meta.dirname, 'attack-process.ts'));
  child.send({ name, site });
  await once(child, 'message');
  return {
    async stop(): Promise<string> {
      child.send('stop');
      const [tally] = (await once(child, 'message')) as [[status: number, count: number][]];
      await end(child);
      return tally.map(([status, count]) => `${count} × ${status || 'no answer'}`).join(', ');
    },
  };
}

async function measure(
  stack: BenchStack,
  neighbour: Neighbour,
  { seconds, from }: { seconds: number; from: Promise<unknown> | undefined },
): Promise<Figures> {
  const seen = await neighbour.live({ requests: perSecond * seconds, perSecond, mails, from });
  const sorted = seen.timesMs.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
  return {
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    failed: seen.statuses.filter((status) => status === 0 || status >= 500).length,
    limited: seen.statuses.filter((status) => status === 429).length,
    latestMailMs: await latestMail(stack, seen),
  };
}

async function latestMail({ sink }: BenchStack, { mailsAskedAtMs }: Experience): Promise<number> {
  const [first = ''] = mailsAskedAtMs.keys();
  const prefix = first.slice(0, first.indexOf('.'));
  const giveUpAtMs = Date.now() + mailGiveUpMs;
  for (;;) {
    const arrivals = await ask<Record<string, number>>(sink.control, `/times?prefix=${prefix}`);
    const isAll = Object.keys(arrivals).length >= mailsAskedAtMs.size;
    if (!isAll && Date.now() < giveUpAtMs) {
      await sleep(100);
      continue;
    }
    const late = [...mailsAskedAtMs].map(
      ([email, askedAtMs]) => (arrivals[email] ?? Number.POSITIVE_INFINITY) - askedAtMs,
    );
    return Math.max(...late);
  }
}

function print(name: string, figures: Figures, quiet: Figures, tally = ''): void {
  const { p50Ms, p99Ms, failed, limited, latestMailMs } = figures;
  const ratio = p99Ms / quiet.p99Ms;
  const isGood = ratio <= ratioMax && failed === 0 && limited === 0 && latestMailMs <= mailLateMs;
  if (!isGood) process.exitCode = 1;
  console.log(
    `${isGood ? 'good  ' : 'MISSED'} ${name}: p50 ${p50Ms.toFixed(1)}, p99 ${p99Ms.toFixed(1)} ms (× ${ratio.toFixed(1)}), ` +
      `5xx ${failed}, 429 ${limited}, latest mail ${latestMailMs.toFixed(0)} ms${tally === '' ? '' : `; attacker: ${tally}`}`,
  );
}
