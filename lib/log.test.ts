import { execFileSync, spawnSync } from 'node:child_process';
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { cpuMs } from '../test/cpu-time.ts';
import { LineWriter, withoutAddresses } from './log.ts';

const root = mkdtempSync(join(tmpdir(), 'postrider-log-'));
afterAll(() => rmSync(root, { recursive: true }));
const source = JSON.stringify(join(import.meta.dirname, 'log.ts'));

/** A pattern that backtracks to each character of the word takes seconds. */
test('addresses are removed from a long word in one pass', () => {
  const word = 'a'.repeat(60_000);
  let text = '';
  const ms = cpuMs(() => {
    text = withoutAddresses(`${word} b@c`);
  });
  expect(text).toBe(`${word} [address]`);
  expect(ms).toBeLessThan(150);
  expect(withoutAddresses('to <ada@example.com>, @home and a@ but b@c; x@y@z')).toBe(
    'to <[address]>, @home and a@ but [address]; [address]',
  );
});

test('a stack keeps the files of libraries whose names begin with @', () => {
  const frame = 'at read (file:///app/node_modules/@bufbuild/protobuf/dist/from-json.js:92:31)';
  expect(withoutAddresses(frame)).toBe(frame);
  expect(withoutAddresses('file:///node_modules/@a/ada@example.com')).toBe('file:[address]');
});

test('a pretty line is for people, and hides what a line of JSON hides', () => {
  const program = `import { createLog } from ${source};
    createLog('contacts', 'info', 'pretty').info({ workspaceId: 'w1', token: 'secret-token' }, 'call');`;
  const line = execFileSync(process.execPath, ['--input-type=module', '-e', program]).toString();
  expect(line).toMatch(/INFO.*contacts.*call/);
  expect(line).toContain('workspaceId: "w1"');
  expect(line).not.toContain('secret-token');
});

const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux.each(['json', 'pretty'])(
  'a full disk neither ends nor holds up a process that logs in %s',
  (format) => {
    const program = `import { createLog } from ${source};
    const log = createLog('contacts', 'info', '${format}');
    log.info('one');
    log.fatal('two');
    setTimeout(() => { log.info('three'); process.stderr.write('goes on'); }, 50);`;
    const full = openSync('/dev/full', 'w');
    const args = ['--input-type=module', '-e', program];
    const stdio = ['ignore', full, 'pipe'] as const;
    const ended = spawnSync(process.execPath, args, { stdio: [...stdio], timeout: 20_000 });
    closeSync(full);
    expect([ended.status, ended.stderr.toString()]).toEqual([0, 'goes on']);
  },
);

test('lines that cannot be written are left out, and the next one is preceded by their number', () => {
  const file = join(root, 'lines.log');
  const fd = openSync(file, 'w');
  const writer = new LineWriter(fd);
  closeSync(fd);
  writer.write('one\n');
  writer.write('two\n');
  // The lowest number that is free.
  expect(openSync(file, 'w')).toBe(fd);
  writer.write('three\n');
  writer.write('four\n');
  closeSync(fd);
  const [missing = '', ...lines] = readFileSync(file, 'utf8').split('\n');
  expect(JSON.parse(missing)).toMatchObject({
    level: 40,
    msg: '2 lines of this log could not be written',
  });
  expect(lines).toEqual(['three', 'four', '']);
});

/** A pipe as services have it for their output: what it has no room for is refused. */
function givenPipe(name: string): number {
  const file = join(root, name);
  execFileSync('mkfifo', [file]);
  return openSync(file, constants.O_RDWR | constants.O_NONBLOCK);
}

const long = `${'x'.repeat(100_000)}\n`;

onLinux('a line that was cut off has the next one on a line of its own', () => {
  const fd = givenPipe('cut');
  const writer = new LineWriter(fd);
  writer.write(long);
  writer.write('two\n');
  const bytes = Buffer.alloc(200_000);
  readSync(fd, bytes);
  writer.write('three\n');
  const [note = '', three, rest] = bytes
    .toString('utf8', 0, readSync(fd, bytes))
    .replace(/^\n/, '')
    .split('\n');
  expect(bytes[0]).toBe('\n'.charCodeAt(0));
  expect(JSON.parse(note).msg).toBe('2 lines of this log could not be written');
  expect([three, rest]).toEqual(['three', '']);
  closeSync(fd);
});

onLinux('a reader that is slow for ever does not hold up a process with each line', () => {
  const fd = givenPipe('slow');
  const writer = new LineWriter(fd);
  const bytes = Buffer.alloc(20_000);
  const startedAtMs = performance.now();
  for (let line = 0; line < 6; line += 1) {
    writer.write(long);
    readSync(fd, bytes);
  }
  // The first line waits for a second.
  expect(performance.now() - startedAtMs).toBeLessThan(3_000);
  closeSync(fd);
});
