import { existsSync, rmSync } from 'node:fs';
import { openStack } from '../stack.ts';
import { started } from './start.ts';

/** Stops what start.ts has started, also after failed tests. */
export default async function stop(): Promise<void> {
  await endStack(process.env.TEST_STACK_FOLDER ?? '');
  await started.postgres?.stop();
  if (started.folder) rmSync(started.folder, { recursive: true, force: true });
}

async function endStack(folder: string): Promise<void> {
  if (existsSync(`${folder}/ready.json`)) await openStack(folder).stop();
  for (const left of [folder, `${folder}.lock`]) rmSync(left, { recursive: true, force: true });
}
