import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const env = {
  ...process.env,
  PYTHONPATH: join(import.meta.dirname, 'src'),
  PYTHONDONTWRITEBYTECODE: '1',
};
const python = (...args: string[]) =>
  spawnSync('python3', args, { cwd: import.meta.dirname, env, encoding: 'utf8' });

const isHere = python('-c', 'import httpx').status === 0;
if (!isHere) console.warn('python3 has no httpx: `npm run clients` has one, and runs these tests');
const run = isHere ? test : test.skip;

run('the tests of the Python client pass', () => {
  const { status, stderr } = python('-W', 'error', '-m', 'unittest', 'discover', '-s', 'tests');
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining('OK') });
});
