import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Client } from 'pg';
import { request } from 'undici';
import { type BenchStack, startBenchStack } from './bench-stack.ts';
import { importAudience, type Tenant } from './broadcast.ts';
import { readPids, usageOf } from './processes.ts';
import { givenTenant, measureBroadcast } from './tenant.ts';
import { openDatabase } from './webhooks/database.ts';

const perMinute = 10_000_000;
/** The most that one integration may report in a second, in each process of messages. */
const perIntegration = 2_000;
const batchSize = 100;
/** The gateway reads this many requests with reports of one client at a time. */
const callersMax = 16;
const readEveryMs = 20;
const warmUpSeconds = 5;
const applyMsMax = 10 * 60_000;

type Reporting = { tenant: Tenant; url: string; ids: string[] };
type Answers = { ms: number[]; ok: number; refused: number };

/**
 * Reports of providers beside a broadcast: how many are taken and applied, what becomes of the
 * broadcast's speed and of another tenant's reads, and whether each counts once. Half of the
 * reports are repeats.
 */
export async function benchReports(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rate: { type: 'string', default: '10000' },
      seconds: { type: 'string', default: '60' },
      recipients: { type: 'string', default: '20000' },
    },
  });
  const [rate, seconds, recipients] = [values.rate, values.seconds, values.recipients].map(Number);
  if (!rate || !seconds || !recipients) throw new Error('numbers above 0 are needed');
  const stack = await startBenchStack();
  const database = await openDatabase(stack);
  try {
    const sender = await givenTenant(stack, { perMinute, port: stack.sink.port });
    await importAudience(sender, recipients);
    const reader = await givenTenant(stack, { perMinute, port: stack.sink.port });
    const integrations = Math.ceil(rate / perIntegration);
    const distinct = Math.ceil((rate * (seconds + warmUpSeconds)) / 2 / integrations);
    const reporting: Reporting[] = [];
    for (let each = 0; each < integrations; each += 1) {
      reporting.push(await givenReporting(stack, database, distinct));
    }
    const broadcast = () => measureBroadcast(stack, sender, { list: 'bench', recipients });
    const read = () => readFor(reader, broadcast);
    await read();
    const alone = await read();
    const feed = startReports(reporting, rate);
    await sleep(warmUpSeconds * 1_000);
    const before = usageOf(readPids(stack.folder));
    const storm = feed.measure();
    const [beside] = await Promise.all([read(), sleep(seconds * 1_000)]);
    const answers = storm();
    const after = usageOf(readPids(stack.folder));
    const sentReports = await feed.stop();
    const appliedMs = await untilApplied(database);
    const mbOf = (name: string) => after.get(name)?.memoryMb.toFixed(0) ?? '?';
    const cpuOf = (name: string) =>
      Math.round((after.get(name)?.cpuMs ?? 0) - (before.get(name)?.cpuMs ?? 0));
    const perSecond = (ms: number) => Math.round((recipients * 1_000) / ms);
    console.log(
      `${rate} reports/s asked: ${Math.round(answers.ok / seconds)} taken, ${Math.round(answers.refused / seconds)} told to come again; ` +
        `answers p50 ${at(answers.ms, 0.5)}, p99 ${at(answers.ms, 0.99)} ms; the last was applied ${(appliedMs / 1_000).toFixed(1)} s after the last answer`,
    );
    console.log(
      `  broadcast to ${recipients}: ${perSecond(alone.broadcastMs)}/s alone, ${perSecond(beside.broadcastMs)} beside: × ${(alone.broadcastMs / beside.broadcastMs).toFixed(2)}`,
    );
    console.log(
      `  lists.list of another tenant: p99 ${at(alone.ms, 0.99)} ms beside the broadcast alone, ${at(beside.ms, 0.99)} with the reports: × ${(at(beside.ms, 0.99) / at(alone.ms, 0.99)).toFixed(2)}`,
    );
    console.log(
      `  CPU s: messages ${(cpuOf('messages') / 1_000).toFixed(1)}, gateway ${(cpuOf('gateway') / 1_000).toFixed(1)}; messages ${mbOf('messages')} MB, gateway ${mbOf('gateway')} MB`,
    );
    const { lost, twice } = await countFaults(database, sentReports);
    console.log(`  lost ${lost}, counted twice ${twice}`);
    if (lost > 0 || twice > 0) process.exitCode = 1;
  } finally {
    await database.end();
    await stack.stop();
  }
}

/** A workspace with sent messages, and the URL for reports about them. */
async function givenReporting(
  stack: BenchStack,
  database: Client,
  messages: number,
): Promise<Reporting> {
  const tenant = await givenTenant(stack, { perMinute, port: stack.sink.port });
  const { api, workspaceId } = tenant;
  type Workspace = { settings: { marketing_email_provider_id: string } };
  const { workspace } = await api<{ workspace: Workspace }>('workspaces.get', {
    query: { id: workspaceId },
  });
  const integration_id = workspace.settings.marketing_email_provider_id;
  type Status = { endpoints: { url: string }[] };
  const { status } = await api<{ status: Status }>('webhooks.register', {
    body: { workspace_id: workspaceId, integration_id },
  });
  const query = new URL(status.endpoints[0]?.url ?? '').search;
  const { rows } = await database.query<{ id: string }>(
    `insert into messages.messages (workspace_id, id, contact_email, broadcast_id, template_id, template_version, integration_id,
       status, attempts, sent_at, created_at, updated_at)
     select $1, gen_random_uuid(), 'r' || number || '@example.com', 'reported', 'bench', 1, $2, 'sent', 1,
       now() - interval '1 hour', now() - interval '1 hour', now()
     from generate_series(0, $3::int - 1) number returning id`,
    [workspaceId, integration_id, messages],
  );
  await database.query('analyze messages.messages');
  const url = `${stack.setting('BASE_URL')}/webhooks/email${query}`;
  return { tenant, url, ids: rows.map(({ id }) => id) };
}

/** Of a hundred reports one is a bounce and a thousandth part complaints, as of a good sender. */
function reportOf(id: string, number: number): object {
  const about = { message_id: id, recipient: `r${number}@example.com`, id: `report ${number}` };
  if (number % 1_000 === 7) return { ...about, event: 'complaint', complaint_type: 'abuse' };
  if (number % 100 === 3) {
    return { ...about, event: 'bounce', diagnostic_code: '550 5.1.1 no such user' };
  }
  return { ...about, event: 'delivered' };
}

type SentReports = { workspaceId: string; numbers: Set<number> }[];

/** Posts batches at a steady rate, each once more later, until it is stopped. */
function startReports(reporting: readonly Reporting[], rate: number) {
  const stopping = new AbortController();
  const answered: SentReports = reporting.map(({ tenant }) => ({
    workspaceId: tenant.workspaceId,
    numbers: new Set(),
  }));
  let answers: Answers = { ms: [], ok: 0, refused: 0 };
  let turn = 0;
  const startedAtMs = performance.now();
  const next = () => {
    const batch = turn;
    turn += 1;
    const one = batch % reporting.length;
    const { ids } = reporting[one] as Reporting;
    // Every other batch repeats the one before it of its integration.
    const place = Math.floor(batch / reporting.length / 2);
    const first = (place * batchSize) % Math.max(batchSize, ids.length - batchSize);
    return { one, first, dueAtMs: startedAtMs + (batch * batchSize * 1_000) / rate };
  };
  const post = async () => {
    const { one, first, dueAtMs } = next();
    await sleep(Math.max(0, dueAtMs - performance.now()));
    const { url, ids } = reporting[one] as Reporting;
    const numbers = Array.from({ length: batchSize }, (_, index) => first + index);
    const body = JSON.stringify(numbers.map((number) => reportOf(ids[number] ?? '', number)));
    const calledAtMs = performance.now();
    // Costs this machine less than `fetch`.
    const { statusCode, body: answer } = await request(url, { method: 'POST', body });
    await answer.dump();
    answers.ms.push(performance.now() - calledAtMs);
    if (statusCode === 200) {
      answers.ok += batchSize;
      for (const number of numbers) answered[one]?.numbers.add(number);
    } else if (statusCode === 503) answers.refused += batchSize;
    else throw new Error(`reports were answered ${statusCode}`);
  };
  const caller = async () => {
    while (!stopping.signal.aborted) await post();
  };
  const all = Promise.all(Array.from({ length: callersMax }, caller));
  return {
    /** Counts from now on, until the function that it answers is called. */
    measure() {
      answers = { ms: [], ok: 0, refused: 0 };
      return () => answers;
    },
    async stop() {
      stopping.abort();
      await all;
      return answered;
    },
  };
}

/** Reads in turn while some work is done. */
async function readFor(
  { api, workspaceId }: Tenant,
  work: () => Promise<{ allMs: number }>,
): Promise<{ ms: number[]; broadcastMs: number }> {
  const ended = new AbortController();
  const ms: number[] = [];
  const reading = (async () => {
    while (!ended.signal.aborted) {
      const calledAtMs = performance.now();
      await api('lists.list', { query: { workspace_id: workspaceId } });
      ms.push(performance.now() - calledAtMs);
      await sleep(readEveryMs);
    }
  })();
  const { allMs } = await work();
  ended.abort();
  await reading;
  return { ms, broadcastMs: allMs };
}

async function untilApplied(database: Client): Promise<number> {
  const startedAtMs = performance.now();
  const waiting = `select from messages.inbound_requests union all
    select from messages.inbound_reports where due_at is not null limit 1`;
  while ((await database.query(waiting)).rows.length > 0) {
    if (performance.now() - startedAtMs > applyMsMax) throw new Error('reports are not applied');
    await sleep(100);
  }
  return performance.now() - startedAtMs;
}

/** Answered reports that have no effect, and counts beyond them. */
async function countFaults(
  database: Client,
  sent: SentReports,
): Promise<{ lost: number; twice: number }> {
  let [lost, twice] = [0, 0];
  for (const { workspaceId, numbers } of sent) {
    const { rows } = await database.query<{ applied: number; counted: number }>(
      `select (select count(*)::int from messages.messages where workspace_id = $1
           and num_nonnulls(delivered_at, bounced_at, complained_at) > 0) as applied,
         (select coalesce(sum(delivered + bounced + complained), 0)::int from messages.variation_counts
           where workspace_id = $1) as counted`,
      [workspaceId],
    );
    const { applied = 0, counted = 0 } = rows[0] ?? {};
    lost += Math.max(0, numbers.size - applied);
    twice += Math.max(0, counted - applied);
  }
  return { lost, twice };
}

function at(times: readonly number[], share: number): number {
  const sorted = times.toSorted((one, other) => one - other);
  return Number((sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN).toFixed(1));
}
