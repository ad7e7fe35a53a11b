import { runProgram } from './program.ts';

export { callerWords } from './program.ts';

/** Runs a command of the process, and sets its exit code. */
export async function runCaller(args: readonly string[]): Promise<void> {
  const { env, stdin, stdout, stderr } = process;
  // A reader such as head has read enough.
  stdout.on('error', () => process.exit());
  process.exitCode = await runProgram(args, { env, terminal: { stdin, stdout, stderr } });
}
