import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { portsOf } from '../../test/stack/ports.ts';

let end: () => void;
afterEach(() => end());

test('a stack stops when the program that started it has ended', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-left-'));
  const base = String(await portsOf(1));
  const child = fork(join(import.meta.dirname, 'main.ts'), {
    env: { ...process.env, NODE_OPTIONS: '', POSTRIDER_DATA: folder, POSTRIDER_PORT: base },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  end = () => child.kill('SIGTERM');
  let said = '';
  child.stderr?.on('data', (chunk) => {
    said += chunk;
  });
  // A warning of Node may come before the program listens.
  while (!said.includes(' ready after ')) await once(child.stderr!, 'data');
  child.disconnect();
  const [code] = await once(child, 'exit');
  expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining('Stopped.') });
  expect(existsSync(join(folder, 'lock'))).toBe(false);
}, 90_000);
