import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { type StackOptions, startStack, type TestStack } from '../stack.ts';

/** Lines for people, and what is wrong. */
export type Outcome = { lines: readonly string[]; problems: readonly string[] };

const problemsShown = 20;

/**
 * Runs chaos on a stack of its own, says what came of it, and exits 0 only without problems; the
 * logs of a bad run are copied to `keep`.
 */
export async function onStack(
  { keep, ...options }: StackOptions & { keep: string | undefined },
  run: (stack: TestStack, say: (line: string) => void) => Promise<Outcome>,
): Promise<void> {
  const say = (line: string) => console.log(line);
  const stack = await startStack(options);
  try {
    const { lines, problems } = await run(stack, say);
    say(`\n${lines.join('\n')}`);
    for (const problem of problems.slice(0, problemsShown)) say(`PROBLEM   ${problem}`);
    say(problems.length === 0 ? '\nGood.' : `\nBad: ${problems.length} problems.`);
    process.exitCode = problems.length === 0 ? 0 : 1;
    if (keep && problems.length > 0) cpSync(join(stack.folder, 'logs'), keep, { recursive: true });
  } finally {
    await stack.stop();
  }
}
