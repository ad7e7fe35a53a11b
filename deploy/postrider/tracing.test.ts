import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';

const root = resolve(import.meta.dirname, '../..');

/** The packages of OpenTelemetry that a process has loaded once its tracing is set up. */
function loadedWith(tracesEndpoint: string | undefined): string[] {
  const code = `
    import { createRequire } from 'node:module';
    import { startTracing } from './deploy/postrider/tracing.ts';
    import './lib/process/run-service.ts';
    import './lib/temporal/run-worker.ts';
    await startTracing('test', { tracesEndpoint: ${JSON.stringify(tracesEndpoint)} });
    const files = Object.keys(createRequire(import.meta.url).cache);
    const names = files.flatMap((file) => /node_modules\\/(@[^/]*opentelemetry[^/]*\\/[^/]+|@temporalio\\/interceptors[^/]+)/.exec(file)?.[1] ?? []);
    console.log(JSON.stringify([...new Set(names)]));
    process.exit(0);`;
  const args = ['--input-type=module', '-e', code];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  expect(stderr.replaceAll(/.*Warning.*/g, '').trim()).toBe('');
  return JSON.parse(stdout);
}

test('a process that sends no traces loads neither the SDK nor interceptors', () => {
  // The library of metrics loads the interface, which does nothing by itself.
  expect(loadedWith(undefined)).toEqual(['@opentelemetry/api']);
}, 60_000);

test('one that sends them loads the SDK', () => {
  expect(loadedWith('http://127.0.0.1:4318')).toContain('@opentelemetry/sdk-trace-base');
}, 60_000);
