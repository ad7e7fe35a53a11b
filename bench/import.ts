import { parseArgs } from 'node:util';
import { progressBar } from '../deploy/demo/progress.ts';
import { type BenchStack, startBenchStack } from './bench-stack.ts';
import { type Consumer, startConsumer, untilDrained } from './events.ts';
import { readPids, type Usage, usageOf } from './processes.ts';

const batchSizes = [1_000, 2_500, 5_000, 10_000];

/**
 * Contacts through the API, each batch into a list, with every event sent to a consumer unless
 * nobody listens.
 */
export async function benchImport(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    allowNegative: true,
    options: {
      listener: { type: 'boolean', default: true },
      contacts: { type: 'string', default: '100000' },
      parallel: { type: 'string', default: '2' },
      rounds: { type: 'string', default: '2' },
      csv: { type: 'boolean', default: false },
    },
  });
  const consumer = values.listener ? await startConsumer() : undefined;
  const stack = await startBenchStack({
    variables: consumer?.variables ?? {},
    keys: consumer?.keys,
  });
  try {
    await consumer?.listen(stack);
    const { api, workspaceId: workspace_id } = stack;
    await api('lists.create', { body: { workspace_id, id: 'bench', name: 'Bench' } });
    const [total, parallel] = [Number(values.contacts), Number(values.parallel)];
    // The first round warms compilers and caches up; the others are the figure.
    for (let round = 1; round <= Number(values.rounds); round += 1) {
      await measure(stack, consumer, { total, parallel, round });
    }
    if (values.csv) await compareCsv(stack, total);
  } finally {
    await stack.stop();
    consumer?.stop();
  }
}

async function measure(
  { api, workspaceId, folder }: BenchStack,
  consumer: Consumer | undefined,
  { total, parallel, round }: { total: number; parallel: number; round: number },
): Promise<void> {
  // Made beforehand: the caller's work is none of the service's.
  const batches = cut(total).map((numbers) => ({
    size: numbers.length,
    body: JSON.stringify({
      workspace_id: workspaceId,
      contacts: numbers.map((number) => contact((round - 1) * total + number)),
      subscribe_to_lists: ['bench'],
    }),
  }));
  const delivered = consumer ? (await consumer.counts()).events : 0;
  const pids = { ...readPids(folder), ...(consumer && { consumer: consumer.pid }) };
  const before = usageOf(pids);
  const startedAtMs = Date.now();
  const bar = progressBar(`Round ${round}`, total);
  let done = 0;
  let early: Map<string, Usage> | undefined;
  const next = async (): Promise<void> => {
    for (let batch = batches.shift(); batch; batch = batches.shift()) {
      await api('contacts.import', { body: batch.body });
      done += batch.size;
      bar.show(done);
      if (done >= total / 5) early ??= usageOf(pids);
    }
  };
  await Promise.all(Array.from({ length: parallel }, next));
  const importMs = Date.now() - startedAtMs;
  const counts = consumer && (await untilDrained(consumer, delivered + total * 2));
  const events = counts && counts.events - delivered;
  const drainMs = Date.now() - startedAtMs - importMs;
  bar.end();
  report({ round, total, importMs, drainMs, events, before, early, after: usageOf(pids) });
}

/** The least rate of a CSV file, of that of the same contacts in JSON. */
const csvGate = 0.8;
/** As many rows as the gateway takes together. */
const csvBatch = 2_500;

/** A CSV file beside the same contacts in JSON, each batch after the other, in turns. */
async function compareCsv(stack: BenchStack, total: number): Promise<void> {
  const rates = { json: 0, csv: 0 };
  for (let round = 0; round < 2; round += 1) {
    const from = (round + 1) * 10 * total;
    rates.json = await rateOf(total, () => sendJson(stack, from, total));
    rates.csv = await rateOf(total, () => sendCsv(stack, from + 2 * total, total));
  }
  const ratio = rates.csv / rates.json;
  const rounded = [rates.json, rates.csv].map(Math.round);
  console.log(`\nJSON ${rounded[0]}/s, CSV ${rounded[1]}/s: ${ratio.toFixed(2)} (gate ${csvGate})`);
  const gateway = usageOf(readPids(stack.folder)).get('gateway');
  console.log(`  gateway ${gateway?.memoryMb.toFixed(0)} MB`);
  if (ratio < csvGate) process.exitCode = 1;
}

async function rateOf(total: number, send: () => Promise<void>): Promise<number> {
  const startedAtMs = performance.now();
  await send();
  return (total * 1_000) / (performance.now() - startedAtMs);
}

async function sendJson({ api, workspaceId }: BenchStack, from: number, total: number) {
  for (let first = from; first < from + total; first += csvBatch) {
    const contacts = Array.from({ length: csvBatch }, (_, at) => contact(first + at));
    const body = { workspace_id: workspaceId, contacts, subscribe_to_lists: ['bench'] };
    await api('contacts.import', { body: JSON.stringify(body) });
  }
}

async function sendCsv(stack: BenchStack, from: number, total: number): Promise<void> {
  const query = `workspace_id=${stack.workspaceId}&lists=bench`;
  const answer = await fetch(`${stack.setting('BASE_URL')}/api/contacts.import?${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.setting('TOKEN')}`, 'content-type': 'text/csv' },
    body: ReadableStream.from(csvParts(from, total)),
    duplex: 'half',
  });
  const { created } = (await answer.json()) as { created?: number };
  if (created !== total) throw new Error(`${created} of ${total} rows were created`);
}

function* csvParts(from: number, total: number): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  yield encoder.encode(`${Object.keys(contact(0)).join(',')}\n`);
  for (let first = from; first < from + total; first += 100) {
    const rows = Array.from({ length: 100 }, (_, at) => csvRow(contact(first + at)));
    yield encoder.encode(rows.join(''));
  }
}

function csvRow(fields: object): string {
  const cells = Object.values(fields).map((value) => {
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    return `"${text.replaceAll('"', '""')}"`;
  });
  return `${cells.join(',')}\n`;
}

function cut(total: number): number[][] {
  const batches: number[][] = [];
  for (let first = 0; first < total; first += batches.at(-1)?.length ?? 0) {
    const size = batchSizes[batches.length % batchSizes.length] ?? total;
    const length = Math.min(size, total - first);
    batches.push(Array.from({ length }, (_, index) => first + index));
  }
  return batches;
}

/** Every kind of field, about 700 bytes of JSON. */
function contact(number: number): object {
  return {
    email: `person${number}@example.com`,
    external_id: `id-${number}`,
    timezone: number % 2 === 0 ? 'Europe/Paris' : 'America/New_York',
    language: number % 3 === 0 ? 'fr' : 'en-US',
    first_name: `Person ${number}`,
    last_name: 'Müller',
    phone: '+33 1 23 45 67 89',
    address_line_1: `${number} Station Road`,
    country: 'FR',
    postcode: '75001',
    job_title: 'Night rider',
    custom_string_1: 'Ashford',
    custom_string_2: 'x'.repeat(50),
    custom_number_1: number,
    custom_number_2: number / 7,
    custom_datetime_1: '2026-01-01T12:00:00Z',
    custom_datetime_2: '2026-01-01T12:00:00.123Z',
    custom_json_1: { plan: 'gold', seats: number % 10, tags: ['a', 'b'] },
    custom_json_2: { nested: { deep: { number } } },
  };
}

type Figures = {
  round: number;
  total: number;
  importMs: number;
  drainMs: number;
  events: number | undefined;
  before: Map<string, Usage>;
  early: Map<string, Usage> | undefined;
  after: Map<string, Usage>;
};

function report(figures: Figures): void {
  const { round, total, importMs, drainMs, events, before, early, after } = figures;
  const perSecond = Math.round((total / importMs) * 1_000);
  console.log(`\nround ${round}: ${perSecond} contacts/s, ${total} in ${importMs} ms`);
  if (events) console.log(`  ${events} events, drained ${drainMs} ms later`);
  console.log('  process             CPU µs/contact   MB at 20 %   MB at the end');
  for (const [name, { cpuMs, memoryMb }] of after) {
    const micros = ((cpuMs - (before.get(name)?.cpuMs ?? 0)) * 1_000) / total;
    const at = early?.get(name)?.memoryMb ?? 0;
    const columns = [micros.toFixed(1), at.toFixed(0), memoryMb.toFixed(0)];
    console.log(`  ${name.padEnd(20)}${columns.map((text) => text.padStart(13)).join('')}`);
  }
}
