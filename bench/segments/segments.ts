import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Client } from 'pg';
import { type BenchStack, startBenchStack } from '../bench-stack.ts';
import { readPids, usageOf } from '../processes.ts';
import { openDatabase } from '../webhooks/database.ts';
import { at, requireGate } from '../webhooks/figures.ts';
import { fill } from './fill.ts';
import { changesAt, upsertsDuring } from './load.ts';
import { liveTree, threeLeaves } from './trees.ts';

const previewMaxMs = 1_000;
const buildMaxMs = 30_000;
const slowerMax = 2;
const moveMaxMs = 5_000;
const sampleEveryMs = 50;

export type SegmentsBench = { stack: BenchStack; database: Client };

/**
 * Segments of a workspace with many contacts and events: preview, build, and contacts that change
 * at a rate.
 */
export async function benchSegments(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      contacts: { type: 'string', default: '1000000' },
      events: { type: 'string', default: '5000000' },
      segments: { type: 'string', default: '100' },
      'per-second': { type: 'string', default: '500' },
      seconds: { type: 'string', default: '30' },
    },
  });
  const stack = await startBenchStack();
  const database = await openDatabase(stack);
  const bench = { stack, database };
  try {
    const contacts = Number(values.contacts);
    await fill(bench, { contacts, events: Number(values.events) });
    printMemory(bench, 'filled');
    await preview(bench);
    await build(bench, contacts);
    printMemory(bench, 'built');
    const live = {
      segments: Number(values.segments),
      perSecond: Number(values['per-second']),
      seconds: Number(values.seconds),
      contacts,
    };
    await moves(bench, live);
    printMemory(bench, 'moved');
  } finally {
    await database.end();
    await stack.stop();
  }
}

function printMemory({ stack }: SegmentsBench, when: string): void {
  const usage = usageOf(readPids(stack.folder));
  const of = (name: string) => `${name} ${usage.get(name)?.memoryMb.toFixed(0)} MB`;
  console.log(`  ${when}: ${['contacts', 'contacts-worker', 'postgres'].map(of).join(', ')}`);
}

async function preview({ stack: { api, workspaceId } }: SegmentsBench): Promise<void> {
  const times: number[] = [];
  let total = 0;
  for (let round = 0; round < 5; round += 1) {
    const before = performance.now();
    const answer = await api<{ total_count: number }>('segments.preview', {
      body: { workspace_id: workspaceId, tree: threeLeaves },
    });
    times.push(performance.now() - before);
    total = answer.total_count;
  }
  const median = at(times, 0.5);
  console.log(
    `\npreview of three leaves: ${median.toFixed(0)} ms (median of 5), ${total} contacts`,
  );
  requireGate(`preview below ${previewMaxMs} ms`, median < previewMaxMs);
}

async function build(bench: SegmentsBench, contacts: number): Promise<void> {
  const quiet = await upsertsDuring(bench, () => sleep(5_000));
  let tookMs = 0;
  const busy = await upsertsDuring(bench, async () => {
    const before = performance.now();
    await create(bench, 'built', threeLeaves);
    await activeSince(bench);
    tookMs = performance.now() - before;
  });
  const [quietMs, busyMs] = [at(quiet, 0.99), at(busy, 0.99)];
  console.log(
    `build of ${contacts} contacts: ${(tookMs / 1_000).toFixed(1)} s; contacts.upsert p99 ${quietMs.toFixed(1)} ms quiet, ${busyMs.toFixed(1)} ms during it`,
  );
  requireGate(`build below ${buildMaxMs} ms`, tookMs < buildMaxMs);
  requireGate(`contacts.upsert at most ${slowerMax} times slower`, busyMs <= slowerMax * quietMs);
}

async function create(
  { stack: { api, workspaceId } }: SegmentsBench,
  id: string,
  tree: object,
): Promise<void> {
  const look = { name: id, color: 'red', timezone: 'UTC' };
  await api('segments.create', { body: { workspace_id: workspaceId, id, ...look, tree } });
}

async function activeSince({ database, stack }: SegmentsBench): Promise<void> {
  for (;;) {
    const { rows } = await database.query<{ open: number }>(
      `select count(*)::int as open from contacts.segments where workspace_id = $1 and status <> 'active'`,
      [stack.workspaceId],
    );
    if (rows[0]?.open === 0) return;
    await sleep(100);
  }
}

type Live = { segments: number; perSecond: number; seconds: number; contacts: number };

/** The age of the oldest change that waits, again and again: no change waits longer. */
async function moves(bench: SegmentsBench, live: Live): Promise<void> {
  for (let number = 0; number < live.segments; number += 1) {
    await create(bench, `live_${number}`, liveTree(number));
  }
  await activeSince(bench);
  const ages: number[] = [];
  let isOver = false;
  const sampling = (async () => {
    while (!isOver || (ages.at(-1) ?? 0) > 0) {
      ages.push(await oldestMs(bench));
      await sleep(sampleEveryMs);
    }
  })();
  const before = usageOf(readPids(bench.stack.folder));
  await changesAt(bench, live);
  isOver = true;
  await sampling;
  const after = usageOf(readPids(bench.stack.folder));
  const p99 = at(ages, 0.99);
  const cpu = ['contacts', 'postgres'].map((name) => {
    const ms = (after.get(name)?.cpuMs ?? 0) - (before.get(name)?.cpuMs ?? 0);
    return `${name} ${((ms * 1_000) / (live.perSecond * live.seconds)).toFixed(0)} µs`;
  });
  console.log(
    `${live.perSecond} changes/s for ${live.seconds} s, ${live.segments} segments: oldest change p50 ${at(ages, 0.5).toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, max ${Math.max(...ages).toFixed(0)} ms; CPU a change: ${cpu.join(', ')}`,
  );
  requireGate(`p99 of moves below ${moveMaxMs} ms`, p99 < moveMaxMs);
}

async function oldestMs({ database, stack }: SegmentsBench): Promise<number> {
  const { rows } = await database.query<{ ms: number | null }>(
    `select extract(epoch from clock_timestamp() - min(created_at))::float8 * 1000 as ms
     from contacts.segment_changes where workspace_id = $1`,
    [stack.workspaceId],
  );
  return rows[0]?.ms ?? 0;
}
