import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type BenchStack, startBenchStack } from './bench-stack.ts';
import { importAudience, isSent } from './broadcast.ts';
import { structuredNewsletter } from './newsletter.ts';
import { readPids, type Usage, usageOf } from './processes.ts';
import { ask, end, type SinkStatus, startSink } from './sink-process.ts';
import { givenTenant, measureBroadcast, startBroadcast } from './tenant.ts';

const perMinute = 10_000_000;
const fewRecipients = 100;
/** The first broadcast warms compilers and caches up. */
const warmUps = 1;
const measured = 5;
/** Of the large audience, before the other tenant is measured beside it. */
const begunMin = 100;
const pollMs = 50;

/**
 * A broadcast whose MJML has to be compiled for each recipient: how fast it goes, what memory it
 * takes, and when another tenant's first mail comes beside it.
 */
export async function benchStructures(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { recipients: { type: 'string', default: '3000' } },
  });
  const recipients = Number(values.recipients);
  const stack = await startBenchStack();
  const own = await startSink({ behaviour: {} });
  try {
    const heavy = await givenTenant(stack, {
      perMinute,
      port: own.port,
      mjml: structuredNewsletter,
    });
    await importAudience(heavy, recipients, 'many');
    const other = await givenTenant(stack, { perMinute, port: stack.sink.port });
    await importAudience(other, fewRecipients, 'few');
    const measure = () =>
      measureBroadcast(stack, other, { list: 'few', recipients: fewRecipients });
    const arrived = async () => (await ask<SinkStatus>(own.control, '/status')).total;
    for (let round = 0; round < warmUps; round += 1) await measure();
    const alone = await repeat(measure);
    const before = messagesUsage(stack);
    const calledAtMs = Date.now();
    const id = await startBroadcast(heavy, 'many');
    while ((await arrived()) < begunMin) await sleep(pollMs);
    const beside = await repeat(measure);
    const stillSending = (await arrived()) < recipients;
    while (!(await isSent(heavy, id, calledAtMs))) await sleep(pollMs);
    const sentMs = Date.now() - calledAtMs;
    const after = messagesUsage(stack);
    const cpuMs = (after.cpuMs - before.cpuMs) / recipients;
    console.log(
      `${recipients} recipients, each with a structure: ${Math.round((recipients * 1000) / sentMs)} mails/s, ` +
        `${cpuMs.toFixed(1)} ms of CPU of messages a mail, ${before.memoryMb.toFixed(0)} MB before, ` +
        `${after.memoryMb.toFixed(0)} MB after; ${await arrived()} arrived`,
    );
    console.log(`  other alone:  ${shown(alone)}`);
    console.log(`  other beside: ${shown(beside)}`);
    console.log(
      `  first mail beside ÷ alone ${(median(beside.firsts) / median(alone.firsts)).toFixed(2)}` +
        (stillSending ? '' : '; the large broadcast ended before: give it more --recipients'),
    );
  } finally {
    await stack.stop();
    await end(own.child);
  }
}

type Measured = { firsts: number[]; alls: number[] };

async function repeat(
  measure: () => Promise<{ firstMs: number; allMs: number }>,
): Promise<Measured> {
  const result: Measured = { firsts: [], alls: [] };
  for (let round = 0; round < measured; round += 1) {
    const { firstMs, allMs } = await measure();
    result.firsts.push(firstMs);
    result.alls.push(allMs);
  }
  return result;
}

function shown({ firsts, alls }: Measured): string {
  return `first mail after ${firsts.join(', ')} ms; all ${fewRecipients} after ${alls.join(', ')} ms`;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function messagesUsage({ folder }: BenchStack): Usage {
  const { messages = 0 } = readPids(folder);
  return usageOf({ messages }).get('messages') ?? { cpuMs: 0, memoryMb: 0 };
}
