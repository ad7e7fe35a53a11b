import { spawnSync } from 'node:child_process';
import { folders } from '../clients/make/files.ts';

/**
 * The steps of `npm run check`, in order, each to its end; `--without-tests` leaves out the two of
 * tests.
 */
const steps: [name: string, command: string, ...args: string[]][] = [
  ['format and lint', 'biome', 'check', '--error-on-warnings'],
  ['types', 'tsc'],
  ['contract lint', 'buf', 'lint'],
  ['contract format', 'buf', 'format', '--diff', '--exit-code'],
];

const failed: string[] = [];

function step(name: string, command: string, ...args: string[]): void {
  const before = performance.now();
  const { status } = spawnSync(command, args, { stdio: 'inherit' });
  const seconds = ((performance.now() - before) / 1_000).toFixed(1);
  process.stdout.write(`${status === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)\n`);
  if (status !== 0) failed.push(name);
}

/** The newest tag that names a version, in a repository that has one. */
function releaseTag(): string | undefined {
  const args = ['tag', '--list', 'v[0-9]*', '--sort=-v:refname', '--merged', 'HEAD'];
  return spawnSync('git', args, { encoding: 'utf8' }).stdout?.split('\n')[0] || undefined;
}

for (const each of steps) step(...each);

const tag = releaseTag();
if (tag) step('contract compatibility', 'buf', 'breaking', '--against', `.git#tag=${tag}`);
else process.stdout.write('--     contract compatibility: there is no release yet\n');

step('generate', 'npm', 'run', '--silent', 'generate');
const generated = `gen deploy/local/README.md ${folders.join(' ')}`;
step('generated code is committed', 'sh', '-c', `test -z "$(git status --porcelain ${generated})"`);
if (!process.argv.includes('--without-tests')) {
  step('tests', 'npm', 'test');
  step('end to end', 'npm', 'run', 'e2e');
}

if (failed.length > 0) {
  process.stdout.write(`\nFailed: ${failed.join(', ')}\n`);
  process.exitCode = 1;
}
