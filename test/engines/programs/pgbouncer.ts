import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inFolder } from '../../../deploy/local/download.ts';
import { cacheFolder } from '../../../deploy/local/temporal-programs.ts';
import { download, have, plainEnvironment, requireSum, run, unpackAll } from './fetch.ts';

const version = '1.24.1';
const sha256 = 'da72a3aba13072876d055a3e58dd4aba4a5de4ed6148e73033185245598fd3e0';
const url = `https://www.pgbouncer.org/downloads/files/${version}/pgbouncer-${version}.tar.gz`;
/** Debian 13, whose source package has the same file. */
const suite = 'trixie';
/** The first that keeps prepared statements in transaction mode. */
const versionMin = [1, 21] as const;
const tools = 'gcc make pkg-config libevent-dev libssl-dev';

/**
 * The path of a pgbouncer: `PGBOUNCER`, the one on the PATH, the one built before, or one that is
 * built now.
 */
export async function pgbouncerProgram(say: (line: string) => unknown): Promise<string> {
  for (const given of [process.env.PGBOUNCER ?? '', 'pgbouncer']) if (isRecent(given)) return given;
  const target = join(cacheFolder(), `pgbouncer-${version}`);
  if (!existsSync(target)) {
    say(`Building pgbouncer ${version} (a minute), to be kept at ${target}.`);
    const make = () => inFolder(cacheFolder(), (folder) => build(folder, target));
    await have(`pgbouncer ${version}`, `PGBOUNCER, or ${tools}`, make);
  }
  return target;
}

function isRecent(program: string): boolean {
  if (program === '') return false;
  const said = spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout ?? '';
  const [, major, minor] = /PgBouncer (\d+)\.(\d+)/.exec(said) ?? [];
  return Number(major) === versionMin[0] && Number(minor) >= versionMin[1];
}

async function build(folder: string, target: string): Promise<void> {
  const archive = join(folder, 'pgbouncer.tar.gz');
  await download(url, archive).catch(() => fromDebian(folder, archive));
  requireSum(archive, 'sha256', sha256);
  await unpackAll(archive);
  const options = { cwd: join(folder, `pgbouncer-${version}`), env: plainEnvironment() };
  await run('nice', ['./configure'], options);
  await run('nice', ['make', 'pgbouncer'], options);
  renameSync(join(options.cwd, 'pgbouncer'), target);
}

/**
 * From the package source that the machine uses, also where that is another release of Debian. The
 * checksum vouches for the file.
 */
async function fromDebian(folder: string, archive: string): Promise<void> {
  const format = ['indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages'];
  const [uri] = (await run('apt-get', [...format, 'Label: Debian'])).split('\n');
  for (const each of ['lists/partial', 'cache/archives/partial']) {
    mkdirSync(join(folder, each), { recursive: true });
  }
  writeFileSync(join(folder, 'sources.list'), `deb-src [trusted=yes] ${uri} ${suite} main\n`);
  const settings = [
    `Dir::Etc::sourcelist=${folder}/sources.list`,
    'Dir::Etc::sourceparts=/dev/null',
    `Dir::State::lists=${folder}/lists`,
    `Dir::Cache=${folder}/cache`,
  ].flatMap((each) => ['-o', each]);
  await run('apt-get', [...settings, 'update'], { cwd: folder });
  const source = ['source', '--download-only', '--tar-only', 'pgbouncer'];
  await run('apt-get', [...settings, ...source], { cwd: folder });
  renameSync(join(folder, `pgbouncer_${version}.orig.tar.gz`), archive);
}
