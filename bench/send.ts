import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { progressBar } from '../deploy/demo/progress.ts';
import { type BenchStack, startBenchStack } from './bench-stack.ts';
import { givenBroadcast, givenTemplate, importAudience, isSent } from './broadcast.ts';
import { type Consumer, startConsumer, untilDrained } from './events.ts';
import { liquidNewsletter, newsletter } from './newsletter.ts';
import { readPids, type Usage, usageOf } from './processes.ts';

const pollMs = 20;
const askMs = 200;
/** Some 300 ms of sending. */
const lastMessages = 2_000;

/**
 * A broadcast to N recipients into a fast sink, everything on this machine; tracked, with its
 * history, and with every event sent to a consumer.
 */
export async function benchSend(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      recipients: { type: 'string', default: '10000' },
      rounds: { type: 'string', default: '2' },
      'sink-delay-ms': { type: 'string', default: '0' },
      'rcpt-delay-ms': { type: 'string', default: '0' },
      liquid: { type: 'boolean', default: false },
      'without-listener': { type: 'boolean', default: false },
    },
  });
  const recipients = Number(values.recipients);
  const behaviour = {
    latencyMs: Number(values['sink-delay-ms']),
    rcptLatencyMs: Number(values['rcpt-delay-ms']),
  };
  const consumer = values['without-listener'] ? undefined : await startConsumer();
  const stack = await startBenchStack({
    behaviour,
    variables: consumer?.variables ?? {},
    keys: consumer?.keys,
  });
  try {
    await consumer?.listen(stack);
    await importAudience(stack, recipients);
    await givenTemplate(stack, values.liquid ? liquidNewsletter : newsletter);
    // The first round warms compilers and caches up; the last one is the figure.
    for (let round = 1; round <= Number(values.rounds); round += 1) {
      const result = await sendRound({ stack, consumer }, { recipients, round });
      report(round, recipients, result);
      if (result.arrived !== recipients || result.twice > 0) process.exitCode = 1;
    }
  } finally {
    await stack.stop();
    consumer?.stop();
  }
}

type Result = {
  startMs: number;
  sendMs: number;
  statusMs: number;
  /** From the call until the last event was delivered. */
  drainedMs: number;
  arrived: number;
  twice: number;
  historyEvents: number;
  before: Map<string, Usage>;
  early: Map<string, Usage>;
  after: Map<string, Usage>;
};

/** Without a listener no event is made for anybody outside. */
type Bench = { stack: BenchStack; consumer: Consumer | undefined };

async function sendRound(
  { stack, consumer }: Bench,
  { recipients, round }: { recipients: number; round: number },
): Promise<Result> {
  const { sink } = stack;
  const id = await givenBroadcast(stack, round);
  const listener: Record<string, number> = consumer ? { consumer: consumer.pid } : {};
  const pids: Record<string, number> = {
    ...readPids(stack.folder),
    ...listener,
    sink: sink.pid,
  };
  await sink.reset();
  const delivered = consumer ? (await consumer.counts()).events : 0;
  const before = usageOf(pids);
  const calledAtMs = Date.now();
  const schedule = { workspace_id: stack.workspaceId, id, send_now: true };
  await stack.api('broadcasts.schedule', { body: schedule });
  const bar = progressBar(`Round ${round}`, recipients);
  let askedAtMs = 0;
  let early: Map<string, Usage> | undefined;
  for (;;) {
    const { total: count } = await sink.status();
    if (count > recipients / 5) early ??= usageOf(pids);
    bar.show(count);
    // The API shares the cores: it is asked often only where the answer may be yes.
    if (count >= recipients || Date.now() - askedAtMs >= askMs) {
      askedAtMs = Date.now();
      if (await isSent(stack, id, calledAtMs)) break;
    }
    // A coarse look at the end would be counted as time of the run; the sink knows when the first
    // mail came.
    await sleep(count > recipients - lastMessages ? pollMs : askMs);
  }
  const statusMs = Date.now() - calledAtMs;
  if (consumer) await untilDrained(consumer, delivered + recipients);
  const drainedMs = Date.now() - calledAtMs;
  const after = usageOf(pids);
  const received = await sink.status();
  bar.end();
  return {
    startMs: received.first_at_ms - calledAtMs,
    sendMs: received.received_at_ms - received.first_at_ms,
    statusMs,
    drainedMs,
    arrived: received.recipients,
    twice: received.total - received.recipients,
    historyEvents: await historyEvents(stack, id),
    before,
    early: early ?? before,
    after,
  };
}

async function historyEvents({ setting, workspaceId }: BenchStack, id: string): Promise<number> {
  const connection = await Connection.connect({ address: setting('TEMPORAL_ADDRESS') });
  try {
    const handle = new Client({ connection }).workflow.getHandle(`broadcast/${workspaceId}/${id}`);
    return (await handle.describe()).historyLength;
  } finally {
    await connection.close();
  }
}

function report(round: number, recipients: number, result: Result): void {
  const { startMs, sendMs, statusMs, drainedMs, arrived, twice, historyEvents } = result;
  const perSecond = (ms: number) => Math.round((arrived / Math.max(1, ms)) * 1000);
  console.log(
    `\nround ${round}: ${perSecond(drainedMs)} messages/s from the call until the outbox is drained, ` +
      `${perSecond(sendMs)} while sending, ${perSecond(statusMs)} from the call to the status`,
  );
  console.log(
    `  first message after ${startMs} ms, last after ${startMs + sendMs} ms, sent after ${statusMs} ms, ` +
      `drained after ${drainedMs} ms`,
  );
  console.log(
    `  arrived ${arrived} of ${recipients}, twice ${twice}, ${historyEvents} history events`,
  );
  console.log('  process             CPU µs/message   MB at 20 %   MB at the end');
  let all = 0;
  let allButSink = 0;
  for (const [name, { cpuMs, memoryMb }] of result.after) {
    const micros = ((cpuMs - (result.before.get(name)?.cpuMs ?? 0)) * 1000) / recipients;
    all += micros;
    if (name !== 'sink') allButSink += micros;
    const at = result.early.get(name)?.memoryMb ?? 0;
    const columns = [micros.toFixed(0), at.toFixed(0), memoryMb.toFixed(0)];
    console.log(`  ${name.padEnd(20)}${columns.map((text) => text.padStart(14)).join('')}`);
  }
  console.log(`  ${'all'.padEnd(20)}${all.toFixed(0).padStart(14)}`);
  console.log(`  ${'all but the sink'.padEnd(20)}${allButSink.toFixed(0).padStart(14)}`);
}
