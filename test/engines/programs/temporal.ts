import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { inFolder } from '../../../deploy/local/download.ts';
import { cacheFolder } from '../../../deploy/local/temporal-programs.ts';
import { have, plainEnvironment, run } from './fetch.ts';

const version = '1.32.0';
const module = 'go.temporal.io/server/cmd';

/**
 * The folder of Temporal's `server` and `sql`, built from source: their releases have neither. Go
 * checks the sources by its own database.
 */
export async function temporalServerPrograms(say: (line: string) => unknown): Promise<string> {
  const target = join(cacheFolder(), `temporal-server-${version}`);
  if (existsSync(join(target, 'sql'))) return target;
  say(`Building Temporal ${version} with Go (ten minutes), to be kept at ${target}.`);
  const build = async (folder: string): Promise<void> => {
    const env = plainEnvironment({ GOBIN: folder });
    for (const name of ['server', 'tools/sql']) {
      await run('nice', ['go', 'install', `${module}/${name}@v${version}`], { env });
    }
    renameSync(folder, target);
  };
  await have(`Temporal ${version}`, 'Go 1.26', () => inFolder(cacheFolder(), build));
  return target;
}
