import { existsSync, rmSync } from 'node:fs';
import { openStack, stackFolder } from '../stack.ts';
import { started } from './start.ts';

/** Stops what start.ts has started, also after failed tests. */
export default async function stop({ maxWorkers }: { maxWorkers: number }): Promise<void> {
  const workers = Array.from({ length: maxWorkers }, (_, index) => index + 1);
  await Promise.all(workers.map((worker) => endStack(stackFolder(worker))));
  await started.postgres?.stop();
  if (started.folder) rmSync(started.folder, { recursive: true, force: true });
}

async function endStack(folder: string): Promise<void> {
  if (existsSync(`${folder}/ready.json`)) await openStack(folder).stop();
  rmSync(folder, { recursive: true, force: true });
}
