import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { openStack, stackFolder, stacksMax } from '../stack.ts';
import { started } from './start.ts';

/** Stops what start.ts has started, also after failed tests. */
export default async function stop(): Promise<void> {
  const folders = Array.from({ length: stacksMax }, (_, at) => stackFolder(at + 1));
  await Promise.all(folders.map(endStack));
  await started.postgres?.stop();
  if (started.folder) leaveToDelete(started.folder);
}

/** The 200,000 files of all databases take a minute, for which nobody should wait. */
function leaveToDelete(folder: string): void {
  spawn('rm', ['-rf', folder], { detached: true, stdio: 'ignore' }).unref();
}

async function endStack(folder: string): Promise<void> {
  if (existsSync(`${folder}/ready.json`)) await openStack(folder).stop();
}
