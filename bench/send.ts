import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { progressBar } from '../deploy/demo/progress.ts';
import { type BenchStack, startBenchStack } from './bench-stack.ts';
import { newsletter } from './newsletter.ts';
import { readPids, type Usage, usageOf } from './processes.ts';

const importSize = 5_000;
const pollMs = 20;
const sendMsMax = 5 * 60_000;

type Broadcast = {
  id: string;
  status: string;
  enqueued_count: number;
  sent_count: number;
  pause_reason?: string;
};

/** A broadcast to N recipients into a fast sink, everything on this machine. */
export async function benchSend(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      recipients: { type: 'string', default: '10000' },
      rounds: { type: 'string', default: '2' },
      'sink-delay-ms': { type: 'string', default: '0' },
    },
  });
  const recipients = Number(values.recipients);
  const behaviour = JSON.stringify({ latencyMs: Number(values['sink-delay-ms']) });
  const stack = await startBenchStack(behaviour);
  try {
    await importAudience(stack, recipients);
    await givenTemplate(stack);
    // The first round warms compilers and caches up; the last one is the figure.
    for (let round = 1; round <= Number(values.rounds); round += 1) {
      const result = await sendRound(stack, recipients, round);
      report(round, recipients, result);
      if (result.arrived !== recipients || result.twice > 0) process.exitCode = 1;
    }
  } finally {
    await stack.stop();
  }
}

async function importAudience({ api, workspaceId }: BenchStack, recipients: number): Promise<void> {
  const key = { workspace_id: workspaceId };
  await api('lists.create', { body: { ...key, id: 'bench', name: 'Bench' } });
  const bar = progressBar('Importing', recipients);
  for (let first = 0; first < recipients; first += importSize) {
    const size = Math.min(importSize, recipients - first);
    const contacts = Array.from({ length: size }, (_, index) => contact(first + index));
    await api('contacts.import', { body: { ...key, contacts, subscribe_to_lists: ['bench'] } });
    bar.show(first + size);
  }
  bar.end();
}

function contact(number: number): object {
  return {
    email: `person${number}@example.com`,
    external_id: `id-${number}`,
    first_name: `Person ${number}`,
    last_name: 'Müller',
    language: number % 3 === 0 ? 'fr' : 'en',
    custom_string_1: 'Ashford',
    custom_number_1: number,
  };
}

async function givenTemplate({ api, workspaceId }: BenchStack): Promise<void> {
  await api('templates.create', {
    body: {
      workspace_id: workspaceId,
      id: 'bench',
      name: 'Bench',
      channel: 'email',
      category: 'marketing',
      email: {
        editor_mode: 'code',
        mjml_source: newsletter,
        subject: 'Hello {{ contact.first_name }}',
      },
    },
  });
}

type Result = {
  startMs: number;
  sendMs: number;
  totalMs: number;
  arrived: number;
  twice: number;
  usage: Map<string, Usage>;
};

async function sendRound(stack: BenchStack, recipients: number, round: number): Promise<Result> {
  const { api, workspaceId, sink, folder } = stack;
  const key = { workspace_id: workspaceId };
  const created = await api<{ broadcast: Broadcast }>('broadcasts.create', {
    body: {
      ...key,
      name: `Bench ${round}`,
      audience: { list: 'bench' },
      test_settings: { variations: [{ template_id: 'bench' }] },
    },
  });
  const { id } = created.broadcast;
  const pids = { ...readPids(folder), sink: sink.pid };
  const before = await sink.status();
  const usageBefore = usageOf(pids);
  const calledAtMs = Date.now();
  await api('broadcasts.schedule', { body: { ...key, id, send_now: true } });
  const bar = progressBar(`Round ${round}`, recipients);
  let firstAtMs = 0;
  for (;;) {
    const { total } = await sink.status();
    const count = total - before.total;
    if (count > 0) firstAtMs ||= Date.now();
    bar.show(count);
    const { broadcast } = await api<{ broadcast: Broadcast }>('broadcasts.get', {
      query: { ...key, id },
    });
    if (broadcast.status === 'sent') break;
    if (broadcast.status !== 'sending' || Date.now() - calledAtMs > sendMsMax) {
      throw new Error(`the broadcast is ${broadcast.status}: ${broadcast.pause_reason ?? ''}`);
    }
    await sleep(firstAtMs === 0 ? pollMs : pollMs * 10);
  }
  const doneAtMs = Date.now();
  const after = await sink.status();
  const arrived = after.total - before.total;
  bar.end();
  const usageAfter = usageOf(pids);
  const usage = new Map(
    [...usageAfter].map(([name, { cpuMs, memoryMb }]) => [
      name,
      { cpuMs: cpuMs - (usageBefore.get(name)?.cpuMs ?? 0), memoryMb },
    ]),
  );
  return {
    startMs: firstAtMs - calledAtMs,
    sendMs: after.received_at_ms - firstAtMs,
    totalMs: doneAtMs - calledAtMs,
    arrived,
    twice: Math.max(0, arrived - recipients),
    usage,
  };
}

function report(round: number, recipients: number, result: Result): void {
  const { startMs, sendMs, totalMs, arrived, twice, usage } = result;
  const perSecond = Math.round((arrived / Math.max(1, sendMs)) * 1000);
  console.log(
    `\nround ${round}: ${perSecond} messages/s while sending, ${Math.round((arrived / totalMs) * 1000)} from call to status`,
  );
  console.log(
    `  first message after ${startMs} ms, last after ${startMs + sendMs} ms, status sent after ${totalMs} ms`,
  );
  console.log(`  arrived ${arrived} of ${recipients}, twice ${twice}`);
  console.log('  process             CPU µs/message   memory MB');
  let total = 0;
  for (const [name, { cpuMs, memoryMb }] of usage) {
    const micros = (cpuMs * 1000) / recipients;
    total += micros;
    console.log(
      `  ${name.padEnd(20)}${micros.toFixed(0).padStart(12)}${memoryMb.toFixed(0).padStart(12)}`,
    );
  }
  console.log(`  ${'all'.padEnd(20)}${total.toFixed(0).padStart(12)}`);
}
