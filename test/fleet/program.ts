import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

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
  const { PATH = '', HOME = '' } = process.env;
  const { stdout } = await run(process.execPath, [program, ...args], {
    env: { PATH, HOME, ...env },
  });
  return stdout;
}
