import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { here } from './fleet.ts';

const archiveBytesMax = 512 * 1024 * 1024;

/** The newest tag of a release. */
export function lastRelease(): string {
  const tags = git('tag', '--list', 'v*', '--sort=-version:refname').toString().split('\n');
  const [newest = ''] = tags;
  if (newest === '') throw new Error('there is no tag of a release: name a commit with --from');
  return newest;
}

/**
 * Puts the sources of a commit into a folder of its own, with the dependencies of its lock file.
 */
export function checkOut(commit: string): string {
  const folder = join(mkdtempSync(join(tmpdir(), 'postrider-release-')), 'sources');
  mkdirSync(folder);
  execFileSync('tar', ['-x', '-C', folder], { input: git('archive', commit) });
  if (isDeepStrictEqual(dependenciesOf(folder), dependenciesOf(here))) {
    symlinkSync(join(here, 'node_modules'), join(folder, 'node_modules'));
  } else {
    execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'inherit' });
  }
  return folder;
}

function git(...args: string[]): Buffer {
  return execFileSync('git', args, { cwd: here, maxBuffer: archiveBytesMax });
}

type Locked = { version?: string; dev?: boolean };

/** The versions of the packages that processes load. */
function dependenciesOf(folder: string): Record<string, string | undefined> {
  const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  const packages = Object.entries(lock.packages as Record<string, Locked>);
  return Object.fromEntries(
    packages
      .filter(([path, { dev }]) => path !== '' && !dev)
      .map(([path, { version }]) => [path, version]),
  );
}
