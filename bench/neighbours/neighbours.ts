import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { attacks, heavyAttacks, type Site } from '../../test/attacks/attacks.ts';
import {
  type Experience,
  givenOtherTenant,
  type OtherTenant,
} from '../../test/attacks/other-tenant.ts';
import { givenTenant } from '../../test/attacks/tenant.ts';
import { silentZone } from '../../test/attacks/work.ts';
import { startDnsServer } from '../../test/dns-server.ts';
import { createCall } from '../../test/stack/client.ts';
import { good } from '../../test/stack/given.ts';
import { ownerToken } from '../../test/stack/owner.ts';
import { until } from '../../test/stack/until.ts';
import { type BenchStack, startBenchStack } from '../bench-stack.ts';
import { readPids, usageOf } from '../processes.ts';
import { ask, end } from '../sink-process.ts';
import { openDatabase } from '../webhooks/database.ts';
import { type Receiver, startReceiver } from '../webhooks/receiver.ts';

const perSecond = 20;
const mails = 100;
const ratioMax = 3;
/** Of mails and webhooks, beyond what they take on a quiet stack. */
const lateMsMax = 1_000;
const giveUpMs = 60_000;
/** Of one attack. The quotas of a tenant would let it have more. */
const diskMbMax = 1_024;
/** As in the chart. */
const memoryMbMax = (name: string) => (name.startsWith('messages') ? 1_024 : 768);
/** From the other tenant's first calls to the attack. */
const settleMs = 3_000;
/** Of 16 MB: a gigabyte. */
const logFiles = 64;
/** Slow machines erase what a storm has written for minutes. */
const removedWithinMs = 10 * 60_000;

type Figures = {
  p50Ms: number;
  p99Ms: number;
  failed: number;
  limited: number;
  latestMailMs: number;
  latestWebhookMs: number;
  /** Processes with more memory than the chart gives them. */
  large: string[];
  diskMb: number;
};

/**
 * How a tenant fares beside each attack: 20 reads and writes a second, 100 mails and a webhook of
 * its changes. Exits 1 where a goal is missed.
 */
export async function benchNeighbours(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string', default: '40' },
      only: { type: 'string', default: '' },
    },
  });
  const seconds = Number(values.seconds);
  const dns = await startDnsServer((name) =>
    name.endsWith(`.${silentZone}`) ? 'silent' : { a: ['127.0.0.1'] },
  );
  const receiver = await startReceiver();
  const stack = await startBenchStack({
    variables: { ...limitsAsShipped, DNS_SERVERS: dns.address },
  });
  try {
    const site = await siteOf(stack);
    const otherTenant = await givenOtherTenant(
      await givenTenant(site.baseUrl, site),
      receiver.good,
    );
    const live = (from?: Promise<unknown>) =>
      measure({ stack, receiver }, otherTenant, { seconds, from });
    // The first round warms compilers and caches up.
    await live();
    await fillLog(stack);
    const quiet = await live();
    print('quiet', quiet, quiet);
    const kept = new Set(await workspacesOf(site));
    const only = values.only.split(',');
    for (const { name } of [...attacks, ...heavyAttacks].filter((each) =>
      only.some((part) => each.name.includes(part)),
    )) {
      const attacking = sleep(settleMs).then(() => begin(name, site));
      const beside = await live(attacking);
      const attack = await attacking;
      const tally = await attack.stop();
      print(name, beside, quiet, tally);
      await removeAttackers(site, kept);
    }
  } finally {
    await stack.stop();
    receiver.stop();
    await dns.close();
  }
}

/**
 * Has PostgreSQL make the log files that it keeps (`min_wal_size`), as in an installation that is
 * in use. A new cluster makes each when it needs it, and all commits wait for 50 ms meanwhile.
 */
async function fillLog(stack: BenchStack): Promise<void> {
  const database = await openDatabase(stack);
  for (let file = 0; file < logFiles; file += 1) {
    await database.query("select pg_logical_emit_message(false, 'bench', 'fill')");
    await database.query('select pg_switch_wal()');
  }
  await database.query('checkpoint');
  await database.end();
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

async function workspacesOf({ baseUrl, owner }: Site): Promise<string[]> {
  const workspaces = good(await createCall(baseUrl, owner)('workspaces.list'));
  return workspaces.map(({ id }: { id: string }) => id);
}

/** Ends the work that an attack has left, and waits until nothing of it is stored. */
async function removeAttackers(site: Site, kept: ReadonlySet<string>): Promise<void> {
  const call = createCall(site.baseUrl, site.owner);
  const added = (await workspacesOf(site)).filter((id) => !kept.has(id));
  for (const id of added) good(await call('workspaces.delete', { id }));
  const isGone = async (id: string) =>
    good(await call('workspaces.deletion', undefined, { query: { id } })).left.length === 0;
  await until(
    'nothing is left of the attackers',
    async () => (await Promise.all(added.map(isGone))).every(Boolean),
    { withinMs: removedWithinMs },
  );
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
  { stack, receiver }: { stack: BenchStack; receiver: Receiver },
  otherTenant: OtherTenant,
  { seconds, from }: { seconds: number; from: Promise<unknown> | undefined },
): Promise<Figures> {
  await receiver.take();
  const diskBeforeMb = await diskMbOf(stack);
  const large = new Set<string>();
  const watching = setInterval(() => {
    for (const [name, { memoryMb }] of usageOf(readPids(stack.folder))) {
      const isOurs = name !== 'postgres' && name !== 'temporal' && name !== 'inbox';
      if (isOurs && memoryMb > memoryMbMax(name)) large.add(`${name} ${memoryMb.toFixed(0)} MB`);
    }
  }, 1_000);
  const seen = await otherTenant.live({ requests: perSecond * seconds, perSecond, mails, from });
  clearInterval(watching);
  const writes = (perSecond * seconds) / 2;
  const sorted = seen.timesMs.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
  return {
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    failed: seen.statuses.filter((status) => status === 0 || status >= 500).length,
    limited: seen.statuses.filter((status) => status === 429).length,
    latestMailMs: await latestMail(stack, seen),
    latestWebhookMs: await latestWebhook(receiver, writes),
    large: [...large],
    diskMb: (await diskMbOf(stack)) - diskBeforeMb,
  };
}

async function latestMail({ sink }: BenchStack, { mailsAskedAtMs }: Experience): Promise<number> {
  const [first = ''] = mailsAskedAtMs.keys();
  const prefix = first.slice(0, first.indexOf('.'));
  const giveUpAtMs = Date.now() + giveUpMs;
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

/** Some calls come before the attack, so that more webhooks than writes are counted. */
async function latestWebhook(receiver: Receiver, writes: number): Promise<number> {
  const giveUpAtMs = Date.now() + giveUpMs;
  const late: number[] = [];
  while (late.length < writes) {
    const arrivals = await receiver.take();
    late.push(...arrivals.map(({ atMs, changedAtMs }) => atMs - changedAtMs));
    if (Date.now() > giveUpAtMs) return Number.POSITIVE_INFINITY;
    if (late.length < writes) await sleep(100);
  }
  return Math.max(...late);
}

async function diskMbOf(stack: BenchStack): Promise<number> {
  const database = await openDatabase(stack);
  const { rows } = await database.query<{ mb: number }>(
    'select (pg_database_size(current_database()) / 1048576)::int as mb',
  );
  await database.end();
  return rows[0]?.mb ?? 0;
}

function print(name: string, figures: Figures, quiet: Figures, tally = ''): void {
  const { p50Ms, p99Ms, failed, limited, latestMailMs, latestWebhookMs, large, diskMb } = figures;
  const ratio = p99Ms / quiet.p99Ms;
  const isSoon =
    latestMailMs <= quiet.latestMailMs + lateMsMax &&
    latestWebhookMs <= quiet.latestWebhookMs + lateMsMax;
  const isSmall = large.length === 0 && diskMb <= diskMbMax;
  const isGood = ratio <= ratioMax && failed === 0 && limited === 0 && isSoon && isSmall;
  if (!isGood) process.exitCode = 1;
  console.log(
    `${isGood ? 'good  ' : 'MISSED'} ${name}: p50 ${p50Ms.toFixed(1)}, p99 ${p99Ms.toFixed(1)} ms (× ${ratio.toFixed(1)}), ` +
      `5xx ${failed}, 429 ${limited}, latest mail ${latestMailMs.toFixed(0)}, webhook ${latestWebhookMs.toFixed(0)} ms, disk ${diskMb} MB` +
      `${large.length === 0 ? '' : `, too large: ${large.join(', ')}`}${tally === '' ? '' : `; attacker: ${tally}`}`,
  );
}
