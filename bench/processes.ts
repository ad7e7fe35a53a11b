import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Linux counts CPU time in hundredths of a second. */
const tickMs = 10;
const kilobytesPerMb = 1024;

export type Usage = { cpuMs: number; memoryMb: number };

/** CPU time and memory of the stack's processes by name, each with its children. Linux only. */
export function usageOf(pids: Record<string, number>): Map<string, Usage> {
  const parents = new Map(allPids().map((pid) => [pid, statOf(pid)]));
  const usage = new Map<string, Usage>();
  for (const [name, root] of Object.entries(pids)) {
    let cpuMs = 0;
    let memoryMb = 0;
    for (const [pid, stat] of parents) {
      if (!stat || !descends(pid, root, parents)) continue;
      cpuMs += stat.cpuMs;
      memoryMb += privateMb(pid);
    }
    usage.set(name, { cpuMs, memoryMb });
  }
  return usage;
}

export function readPids(folder: string): Record<string, number> {
  const pids = JSON.parse(readFileSync(join(folder, 'pids'), 'utf8')) as Record<string, number>;
  // All processes are children of the supervisor.
  const { supervisor: _, ...rest } = pids;
  return rest;
}

type Stat = { parent: number; cpuMs: number };

function allPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function statOf(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name is in brackets and may contain anything; the numbers follow it.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0);
    return { parent: Number(fields[1]), cpuMs: ticks * tickMs };
  } catch {
    return undefined;
  }
}

function descends(pid: number, root: number, stats: Map<number, Stat | undefined>): boolean {
  for (let at: number | undefined = pid; at; at = stats.get(at)?.parent)
    if (at === root) return true;
  return false;
}

/**
 * Memory that is the process's own, so that PostgreSQL's shared buffers don't count many times. The
 * kernel has this number at hand; for that of `smaps_rollup` it walks all pages of all processes, a
 * tenth of the time of a broadcast to 10,000.
 */
function privateMb(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^RssAnon:\s+(\d+)/m.exec(text)?.[1] ?? 0) / kilobytesPerMb;
  } catch {
    return 0;
  }
}
