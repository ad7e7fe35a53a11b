import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { processesOf } from './processes.ts';

test('a process that has ended by itself can be killed', async () => {
  const ended = spawn(process.execPath, ['-e', '']);
  await once(ended, 'exit');
  const folder = mkdtempSync(join(tmpdir(), 'processes-'));
  try {
    writeFileSync(join(folder, 'pids'), JSON.stringify({ messages: ended.pid }));
    expect(() => processesOf(folder).kill('messages')).not.toThrow();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a process that is not of the stack is refused', () => {
  const folder = mkdtempSync(join(tmpdir(), 'processes-'));
  try {
    writeFileSync(join(folder, 'pids'), '{}');
    expect(() => processesOf(folder).kill('messages')).toThrow('no process is called messages');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
