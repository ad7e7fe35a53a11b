import { expect, test } from '@jest/globals';
import { outlivingMaxMs } from '#lib/postgres/call-connections.ts';
import { mailTimeoutMs } from './mail-taker.ts';

test('a mail is not refused while messages may still store it', () => {
  expect(mailTimeoutMs).toBeGreaterThan(outlivingMaxMs);
});
