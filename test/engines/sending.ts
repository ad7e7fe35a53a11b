import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runChaos } from '../chaos/chaos.ts';
import type { Fault } from '../chaos/schedule.ts';
import { type StackOptions, startStack, type TestStack } from '../stack.ts';
import type { Rig } from './rig.ts';

type Options = StackOptions & {
  /** Where the messages are, as a superuser; the stack's own database if absent. */
  messagesUrl?: string;
};

/** A stack on an engine, whose processes faults may kill as well. */
export async function startStackOn(rig: Rig, options: Options): Promise<TestStack> {
  const stack = await startStack(options);
  rig.atEnd(stack.stop);
  const kill = (name: string) => {
    if (!rig.kill(name)) stack.processes.kill(name);
  };
  return {
    ...stack,
    databaseUrl: options.messagesUrl ?? stack.databaseUrl,
    processes: { ...stack.processes, kill },
  };
}

/** Mails flow by then. */
const firstMs = 6_000;

/** Kills one process after the other. */
export const kills = (names: readonly string[], everyMs: number): Fault[] =>
  names.map((name, at) => ({ afterMs: firstMs + at * everyMs, action: 'kill', name, forMs: 0 }));

type Sending = { recipients: number; schedule: readonly Fault[] };

/**
 * Sends a broadcast while processes are killed; throws if somebody got no mail, or more came twice
 * than may.
 */
export async function sendThrough(
  rig: Rig,
  stack: TestStack,
  { recipients, schedule }: Sending,
): Promise<string> {
  const lastMs = Math.max(0, ...schedule.map(({ afterMs }) => afterMs));
  const report = await runChaos(stack, {
    recipients,
    schedule,
    // It lasts until after the last kill.
    ratePerMinute: Math.ceil((recipients * 60_000) / (lastMs + 8_000)),
    latencyMs: 200,
    settleMsMax: 300_000,
    fakeDuplicate: false,
    say: rig.say,
  });
  const { lost, twice, bound, seconds, problems, faults, counts } = report;
  if (problems.length > 0) throw new Error(problems.slice(0, 5).join('; '));
  if (faults.length < schedule.length) {
    throw new Error(`it was over after ${faults.length} of ${schedule.length} kills`);
  }
  return `${counts.sent} sent in ${seconds.toFixed(0)} s with ${faults.length} kills, ${lost} lost, ${twice} twice (at most ${bound})`;
}

/** Lines of the processes' logs that match. */
export function linesOf(stack: TestStack, pattern: RegExp): string[] {
  const folder = join(stack.folder, 'logs');
  return readdirSync(folder)
    .flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n'))
    .filter((line) => pattern.test(line));
}
