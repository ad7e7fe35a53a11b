import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { cpuMs } from '../test/cpu-time.ts';
import { withoutAddresses } from './log.ts';

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

test('a pretty line is for people, and hides what a line of JSON hides', () => {
  const log = JSON.stringify(join(import.meta.dirname, 'log.ts'));
  const program = `import { createLog } from ${log};
    createLog('contacts', 'info', 'pretty').info({ workspaceId: 'w1', token: 'secret-token' }, 'call');`;
  const line = execFileSync(process.execPath, ['--input-type=module', '-e', program]).toString();
  expect(line).toMatch(/INFO.*contacts.*call/);
  expect(line).toContain('workspaceId: "w1"');
  expect(line).not.toContain('secret-token');
});
