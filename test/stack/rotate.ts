import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { keysFile } from '../../deploy/keys/file.ts';
import type { TestStack } from '../stack.ts';

const root = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

/** `npm run keys` on the keys of the stack. */
export async function changeKeys({ folder }: TestStack, args: readonly string[]): Promise<void> {
  const script = join(root, 'deploy/keys/main.ts');
  await run(process.execPath, [script, '--file', keysFile(folder), ...args]);
}

/** Starts one part after the other again, with the keys of now. */
export async function restartInTurn(stack: TestStack): Promise<void> {
  const { processes } = stack;
  for (const name of processes.names().filter((each) => !others.has(each))) {
    const old = processes.pid(name);
    process.kill(old, 'SIGTERM');
    await processes.untilReplaced(name, old);
    await stack.untilServing();
  }
}

const others = new Set(['supervisor', 'postgres', 'temporal', 'inbox']);

/** `npm run rotate-secrets` beside the running stack; its lines. */
export async function rotateSecrets({ folder, settings }: TestStack): Promise<string> {
  const port = new URL(settings.BASE_URL ?? '').port;
  const { stdout } = await run(process.execPath, [join(root, 'deploy/local/rotate-secrets.ts')], {
    env: {
      ...process.env,
      ...{ POSTRIDER_DATA: folder, POSTRIDER_PORT: port, MESSAGES_REPLICAS: '2' },
      ...{ DATABASE_URL: '', TEMPORAL_ADDRESS: '' },
    },
  });
  return stdout;
}
