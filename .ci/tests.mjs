// Runs all tests. What failed is told again at the end, since CI may show a long output without its
// middle. The last line has the counts.
//
// CI's machines stand still for seconds now and then, which no wait of a test can tell from a fault
// of ours. A few files that failed are run once more, alone; what passes then is named too: it
// waited for too little, and is to be mended.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const commands = ['test', 'e2e', 'faults'];
/** More that fail at a time have a common cause. */
const filesAgainMax = 5;
const linesOfFailure = 12;

const colours = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g');
const count = (line, word) => Number(new RegExp(`(\\d+) ${word}`).exec(line)?.[1] ?? 0);

/** Runs a command of `package.json`, prints its output, and reads from it what came out. */
async function run(command, files = []) {
  const only = files.length > 0 ? ['--', '--runTestsByPath', ...files] : [];
  const child = spawn('npm', ['run', command, ...only], { stdio: ['ignore', 'pipe', 'pipe'] });
  // Its JSON cannot be used: results of failed tests may hold objects that refer to themselves.
  const said = [];
  for (const [stream, out] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ]) {
    stream.setEncoding('utf8').on('data', (text) => {
      said.push(text);
      out.write(text);
    });
  }
  const [code] = await once(child, 'close');
  return { code, ...resultOf(said.join('').replaceAll(colours, '').split('\n')) };
}

function resultOf(lines) {
  const last = (name) => lines.findLast((line) => line.startsWith(`${name}:`)) ?? '';
  const failures = new Map();
  let file = '';
  for (const [at, line] of lines.entries()) {
    file = /^FAIL (\S+)/.exec(line)?.[1] ?? file;
    // The summary of a run repeats each.
    if (!/^ {2}● /.test(line) || file === '') continue;
    const told = lines.slice(at, at + linesOfFailure).filter((each) => each.trim() !== '');
    failures.set(`${file} ${line}`, [file, ...told].join('\n'));
  }
  const files = lines.map((line) => /^FAIL (\S+)/.exec(line)?.[1] ?? '').filter(Boolean);
  return {
    isWhole: last('Tests') !== '',
    passed: count(last('Tests'), 'passed'),
    // A file that cannot be read counts as one failure.
    failed: Math.max(count(last('Tests'), 'failed'), count(last('Test Suites'), 'failed')),
    files: [...new Set(files)],
    failures: [...failures.values()],
  };
}

const sum = { passed: 0, failed: 0, isWhole: true };
const told = [];
for (const command of commands) {
  const first = await run(command);
  told.push(...first.failures);
  let { failed } = first;
  if (failed > 0 && first.files.length > 0 && first.files.length <= filesAgainMax) {
    const again = await run(command, first.files);
    if (again.isWhole && (again.code === 0 || again.failed > 0)) failed = again.failed;
    const names = first.files.join(', ');
    told.push(`Run once more, alone, ${again.failed} failed: ${names}`, ...again.failures);
  }
  sum.passed += first.passed + Math.max(0, first.failed - failed);
  sum.failed += failed;
  sum.isWhole &&= first.isWhole && (first.code === 0 || first.failed > 0);
}
for (const each of told) console.log(`${each}\n`);
console.log(`${sum.passed} passed, ${sum.failed} failed`);
process.exit(sum.isWhole && sum.failed === 0 ? 0 : 1);
