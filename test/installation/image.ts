import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, matchesGlob, relative } from 'node:path';
import { here } from '../fleet/fleet.ts';

const linesOf = (file: string): string[] => readFileSync(join(here, file), 'utf8').split('\n');

/**
 * Makes a folder with the files of the image: those that COPY takes from the build's context, less
 * the tests, with the packages that `npm ci --omit=dev` installs. Throws where docker build does,
 * for a source that does not exist or is ignored.
 */
export function makeImageFolder(folder: string): void {
  copyStage('build', folder);
  linkPackages(folder);
}

/** Makes a folder in which the guide of the image is built, with all packages. */
export function makeGuideFolder(folder: string): void {
  copyStage('guide', folder);
  symlinkSync(join(here, 'node_modules'), join(folder, 'node_modules'));
}

function copyStage(stage: string, folder: string): void {
  const isIgnored = readIgnored();
  let current: string | undefined;
  for (const line of linesOf('deploy/Dockerfile')) {
    if (line.startsWith('FROM ')) current = / AS (\w+)$/.exec(line)?.[1];
    if (current !== stage) continue;
    const words = line.trim().split(/\s+/);
    if (words[0] !== 'COPY' || words[1]?.startsWith('--')) continue;
    const target = words.at(-1) ?? '';
    for (const source of words.slice(1, -1)) {
      if (!existsSync(join(here, source)) || isIgnored(source)) {
        throw new Error(`${line}: ${source} is not in the build's context`);
      }
      cpSync(join(here, source), join(folder, target.endsWith('/') ? source : target), {
        recursive: true,
        filter: (path) => !isIgnored(relative(here, path)) && !path.endsWith('.test.ts'),
      });
    }
  }
}

/** Of the patterns that match a path, or a folder that it is in, the last one decides. */
function readIgnored(): (path: string) => boolean {
  const patterns = linesOf('.dockerignore').filter((line) => line && !line.startsWith('#'));
  return (path) => {
    const parts = path.split('/');
    const paths = parts.map((_, index) => parts.slice(0, index + 1).join('/'));
    const last = patterns.findLast((pattern) =>
      paths.some((each) => matchesGlob(each, pattern.replace(/^!/, ''))),
    );
    return last !== undefined && !last.startsWith('!');
  };
}

function linkPackages(folder: string): void {
  const lock = JSON.parse(readFileSync(join(here, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; devOptional?: boolean }>;
  };
  const removed = linesOf('deploy/Dockerfile')
    .filter((line) => line.includes('rm -rf'))
    .flatMap((line) => line.match(/node_modules\/\S+/g) ?? []);
  for (const [path, { dev, devOptional }] of Object.entries(lock.packages)) {
    if (!/^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) || dev || devOptional) continue;
    const isRemoved = removed.some((pattern) =>
      [path, dirname(path)].some((each) => matchesGlob(each, pattern)),
    );
    if (isRemoved || !existsSync(join(here, path))) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    symlinkSync(join(here, path), join(folder, path));
  }
}
