import { exitCodes } from './failures.ts';
import { runProgram } from './program.ts';

export { callerWords } from './program.ts';

/** Runs a command of the process, and sets its exit code. */
export async function runCaller(args: readonly string[]): Promise<void> {
  const { env, stdin, stdout, stderr } = process;
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A reader such as head has read enough.
    if (error.code === 'EPIPE') process.exit();
    stderr.write(`the output cannot be written: ${error.message}\n`);
    process.exit(exitCodes.failed);
  });
  process.exitCode = await runProgram(args, { env, terminal: { stdin, stdout, stderr } });
}
