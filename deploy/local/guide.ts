import { spawn } from 'node:child_process';
import { globSync, openSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { giveWay } from '../postrider/give-way.ts';
import type { StackConfig } from './stack-config.ts';

/** The files that the pages of the guide are made from. */
const sources = [
  '*.md',
  '{bench,clients/{python,typescript},deploy,deploy/local}/README.md',
  '{docs,gen,gateway/docs,scripts/guide}/**/*.*',
];

/** Whether a clone has no guide, or one that is older than its sources. */
export function isGuideStale(root: string): boolean {
  const changedMs = (file: string) =>
    statSync(join(root, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const builtMs = changedMs('guide/site/index.html');
  return globSync(sources, { cwd: root }).some((file) => changedMs(file) > builtMs);
}

/**
 * Builds the guide if it is stale, in a process that takes the processor only where nothing else
 * wants it. The gateway finds the result by itself. Answers how to stop it.
 */
export function buildGuideBeside(
  { root, folder }: Pick<StackConfig, 'root' | 'folder'>,
  say: (line: string) => void,
): () => void {
  if (!isGuideStale(root)) return () => {};
  const log = join(folder, 'logs/guide.log');
  const output = openSync(log, 'w', 0o600);
  const child = spawn(process.execPath, [join(root, 'scripts/guide/main.ts')], {
    cwd: root,
    stdio: ['ignore', output, output],
  });
  if (child.pid !== undefined) giveWay(child.pid, constants.priority.PRIORITY_LOW);
  const failed = () => say(`The guide could not be built (see ${log}).`);
  child.on('error', failed);
  child.on('exit', (code) => {
    if (code !== null && code !== 0) failed();
  });
  return () => child.kill('SIGKILL');
}
