import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';
import workerPackage from '@temporalio/worker/package.json' with { type: 'json' };
import { tracedModules } from './traced.ts';

const workflowsFolder = fileURLToPath(new URL('../../workflows', import.meta.url));

/**
 * The bundle of one folder of workflows. Bundling takes seconds, so the code is kept in
 * `cacheFolder` under a name that follows from the sources.
 */
export async function workflowBundle(room: string, cacheFolder: string): Promise<{ code: string }> {
  const workflowInterceptorModules = tracedModules();
  const kind = workflowInterceptorModules.length > 0 ? '-traced' : '';
  const cached = join(cacheFolder, `workflows-${room}-${contentHash()}${kind}.js`);
  try {
    return { code: readFileSync(cached, 'utf8') };
  } catch {
    // Not bundled yet.
  }
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(workflowsFolder, room, 'all.ts'),
    workflowInterceptorModules,
    logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error: console.error },
  });
  mkdirSync(cacheFolder, { recursive: true });
  const partial = `${cached}.${process.pid}`;
  writeFileSync(partial, code);
  renameSync(partial, cached);
  return { code };
}

function contentHash(): string {
  const hash = createHash('sha256').update(workerPackage.version);
  const files = readdirSync(workflowsFolder, { recursive: true, encoding: 'utf8' });
  for (const file of files.filter((name) => /(?<!\.test)\.ts$/.test(name)).sort()) {
    hash.update(file).update(readFileSync(join(workflowsFolder, file)));
  }
  return hash.digest('hex').slice(0, 16);
}
