import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { readPids, usageOf } from '../../bench/processes.ts';
import { queryStack } from '../stack/webhooks.ts';
import type { TestStack } from '../stack.ts';

/** One value at one time. `ageMs` is how long its process has been seen running. */
export type Sample = { name: string; atMs: number; value: number; ageMs: number };

export type Samples = {
  /** Resident megabytes by process; of PostgreSQL the private ones of all its processes. */
  memory: Sample[];
  /** By the user that a service has. */
  connections: Sample[];
  /** Events in the longest history of a run that was open. */
  history: Sample[];
};

const sampleEveryMs = 5_000;
/** A description for each open run. */
const historyEveryMs = 30_000;
const runsMax = 50;
const pageBytes = 4_096;
const bytesPerMb = 1024 * 1024;

/** Looks at the processes of a stack until the signal says stop. Linux only. */
export async function takeSamples(stack: TestStack, signal: AbortSignal): Promise<Samples> {
  const samples: Samples = { memory: [], connections: [], history: [] };
  const born = new Map<string, { pid: number; atMs: number }>();
  let historyAtMs = 0;
  while (!signal.aborted) {
    const atMs = Date.now();
    for (const [name, pid] of Object.entries(readPids(stack.folder))) {
      if (born.get(name)?.pid !== pid) born.set(name, { pid, atMs });
      const value = name === 'postgres' ? privateMb(pid) : residentMb(pid);
      const ageMs = atMs - (born.get(name)?.atMs ?? atMs);
      if (value !== undefined) samples.memory.push({ name, atMs, value, ageMs });
    }
    // A database or Temporal that has just been killed has no figures.
    const counts = await connectionsOf(stack).catch(() => []);
    for (const { name, count } of counts) {
      samples.connections.push(sampleOf(name, atMs, count));
    }
    if (atMs - historyAtMs >= historyEveryMs) {
      historyAtMs = atMs;
      const longest = await longestHistory(stack).catch(() => undefined);
      if (longest !== undefined) samples.history.push(sampleOf('history', atMs, longest));
    }
    await sleep(Math.max(0, atMs + sampleEveryMs - Date.now()), undefined, { signal }).catch(
      () => {},
    );
  }
  return samples;
}

const sampleOf = (name: string, atMs: number, value: number): Sample => ({
  ...{ name, atMs, value },
  ageMs: Number.POSITIVE_INFINITY,
});

/** Undefined if the process has just ended. */
function residentMb(pid: number): number | undefined {
  try {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
    return (pages * pageBytes) / bytesPerMb;
  } catch {
    return undefined;
  }
}

function privateMb(pid: number): number | undefined {
  return usageOf({ postgres: pid }).get('postgres')?.memoryMb || undefined;
}

type Count = { name: string; count: number };

function connectionsOf(stack: TestStack): Promise<Count[]> {
  return queryStack<Count>(
    stack,
    `select usename as name, count(*)::int as count from pg_stat_activity
     where backend_type = 'client backend' and usename is not null group by usename`,
  );
}

async function longestHistory({ settings }: TestStack): Promise<number> {
  const connection = await Connection.connect({ address: settings.TEMPORAL_ADDRESS ?? '' });
  try {
    const { workflow } = new Client({ connection });
    let longest = 0;
    let seen = 0;
    for await (const { workflowId } of workflow.list({ query: 'ExecutionStatus="Running"' })) {
      const { historyLength } = await workflow.getHandle(workflowId).describe();
      longest = Math.max(longest, historyLength);
      seen += 1;
      if (seen === runsMax) break;
    }
    return longest;
  } finally {
    await connection.close();
  }
}
