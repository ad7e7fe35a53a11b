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

/**
 * Starts all processes again with the keys of now, some at a time, so that old and new ones meet.
 */
export async function restartInTurn(stack: TestStack, turns = waves): Promise<void> {
  const { processes } = stack;
  for (const names of turns) {
    const old = names.map((name) => ({ name, pid: processes.pid(name) }));
    for (const { pid } of old) process.kill(pid, 'SIGTERM');
    await Promise.all(old.map(({ name, pid }) => processes.untilReplaced(name, pid)));
    await stack.untilServing();
  }
}

const waves = [
  ['messages', 'broadcasts', 'contacts-worker'],
  ['workspaces', 'templates', 'broadcasts-worker'],
  ['messages-2', 'contacts', 'webhooks-worker'],
  ['webhooks', 'gateway'],
];

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
