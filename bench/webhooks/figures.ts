import type { BenchStack } from '../bench-stack.ts';
import { readPids, type Usage, usageOf } from '../processes.ts';
import type { Receiver } from './receiver.ts';

export type Bench = { stack: BenchStack; receiver: Receiver };

export const usage = ({ stack, receiver }: Bench): Map<string, Usage> =>
  usageOf({ ...readPids(stack.folder), receiver: receiver.pid });

/** The value that so large a share of the others does not exceed. */
export function at(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
}

/**
 * Prints what each of some things has cost, by process; those that cost next to nothing are left
 * out.
 */
export function printCosts(
  { before, after }: { before: Map<string, Usage>; after: Map<string, Usage> },
  { count, what }: { count: number; what: string },
): void {
  let all = 0;
  console.log(`  process             CPU µs/${what}`);
  for (const [name, { cpuMs }] of after) {
    const micros = ((cpuMs - (before.get(name)?.cpuMs ?? 0)) * 1_000) / count;
    all += micros;
    if (micros >= 1) console.log(`  ${name.padEnd(20)}${micros.toFixed(0).padStart(14)}`);
  }
  console.log(`  ${'all'.padEnd(20)}${all.toFixed(0).padStart(14)}`);
}

/** Says how a figure compares with the one that it has to reach, and remembers a miss. */
export function requireGate(what: string, isReached: boolean): void {
  if (isReached) return;
  console.log(`  MISSED: ${what}`);
  process.exitCode = 1;
}
