import { PassThrough } from 'node:stream';
import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { logEntry, logTaskQueue } from './runtime-log.ts';

/** A log of a name, and its lines. */
function givenLog(name: string) {
  const stream = new PassThrough();
  const text = () => stream.read()?.toString() ?? '';
  return { log: pino({ base: { name } }, stream), text };
}

test('a line of the runtime has one level, and the name of the worker of its task queue', () => {
  const [first, second] = [givenLog('broadcasts'), givenLog('webhooks')];
  logTaskQueue('broadcasts', first.log);
  logTaskQueue('webhooks', second.log);
  const meta = { taskQueue: 'webhooks', activityType: 'deliver', taskToken: 'internal' };
  logEntry(first.log, { level: 'ERROR', message: 'failed', timestampNanos: 0n, meta });
  const line = second.text();
  expect(line.match(/"level"/g)).toHaveLength(1);
  expect(JSON.parse(line)).toMatchObject({ level: 50, name: 'webhooks', activityType: 'deliver' });
  expect(line).not.toContain('internal');
  expect(first.text()).toBe('');
});

test('a line about no task queue goes to the log of the runtime', () => {
  const { log, text } = givenLog('temporal');
  logEntry(log, { level: 'WARN', message: 'lost the connection', timestampNanos: 0n });
  expect(JSON.parse(text())).toMatchObject({ level: 40, name: 'temporal' });
});
