import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { programVariables } from '../setup/program.ts';

const run = promisify(execFile);

/**
 * Runs a command of the program in `root` to its end, with these variables alone; answers what it
 * printed.
 */
export async function runProgram(
  root: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<string> {
  const program = join(root, 'deploy/postrider/main.ts');
  const { HOME = '' } = process.env;
  const { stdout } = await run(process.execPath, [program, ...args], {
    env: { ...programVariables(), HOME, ...env },
  });
  return stdout;
}
