import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { startPostgres } from '../../deploy/local/postgres.ts';
import { serviceNames } from '../../deploy/postrider/parts.ts';
import { here } from '../fleet/fleet.ts';
import { endWithThisProcess, noteProcess } from '../fleet/leftovers.ts';
import { freePorts } from '../fleet/plan.ts';
import { startFleetTemporal } from '../fleet/temporal.ts';
import { startSink } from '../sink.ts';
import { until } from '../stack/until.ts';

const run = promisify(execFile);

/** The first block of shell under a heading of deploy/README.md, with other words in it. */
function blockOf(heading: string, replaced: Record<string, string>): string {
  const page = readFileSync(join(here, 'deploy/README.md'), 'utf8');
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  let block = /^```sh\n([\s\S]*?)^```$/m.exec(section)?.[1] ?? '';
  for (const [printed, ours] of Object.entries(replaced)) {
    if (!block.includes(printed)) throw new Error(`${heading} has no ${printed}`);
    block = block.replaceAll(printed, ours);
  }
  return block;
}

test('the lines on a small machine start one process on own servers, and the first steps send a mail', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-one-process-'));
  mkdirSync(join(folder, 'processes'));
  endWithThisProcess(folder);
  const [port, gatewayPort, healthPort, ...ports] = await freePorts(3 + serviceNames.length);
  const password = 'secret';
  const sink = await startSink({ bodiesMax: 5 });
  const temporal = await startFleetTemporal(folder);
  const postgres = await startPostgres({
    ...{ folder: join(folder, 'postgres'), port: port ?? 0, password },
    settings: { max_connections: '200', fsync: 'off' },
  });
  for (const pid of [temporal.pid, postgres.pid]) noteProcess(folder, pid);
  const program = join(here, 'deploy/postrider/main.ts');
  const url = `http://127.0.0.1:${gatewayPort}`;
  const env = {
    PATH: process.env.PATH,
    PGPASSWORD: password,
    EGRESS_ALLOW: '127.0.0.0/8',
    HEALTH_PORT: String(healthPort),
    ...Object.fromEntries(
      serviceNames.map((name, at) => [`${name.toUpperCase()}_PORT`, String(ports[at])]),
    ),
  };
  const lines = blockOf('A small machine', {
    'npm ci --loglevel=error\n': '',
    'npx postrider all': `exec node ${program} all`,
    'npx postrider': `node ${program}`,
    '//postgres:': '//postrider:',
    '127.0.0.1:5432': `127.0.0.1:${port}`,
    '127.0.0.1:7233': temporal.address,
    'GATEWAY_PORT=4400': `GATEWAY_PORT=${gatewayPort}`,
    'https://mail.example.com': url,
  });
  const all = spawn('sh', ['-ec', lines], { cwd: folder, env, stdio: 'ignore' });
  noteProcess(folder, all.pid ?? 0);
  const ended = once(all, 'exit');
  try {
    const isReady = async () => {
      expect(all.exitCode).toBeNull();
      const answer = await fetch(`http://127.0.0.1:${healthPort}/readyz`).catch(() => undefined);
      return answer?.status === 200;
    };
    await until('the process is ready', isReady, { withinMs: 180_000 });
    const steps = blockOf('First steps', {
      'https://mail.example.com': url,
      'smtp.example.com': '127.0.0.1',
      '"port":587,"username":"acme","password":"…","use_tls":true': `"port":${sink.port},"use_tls":false`,
    });
    await run('sh', ['-ec', steps], { cwd: folder, env });
    await until('the mail is there', async () => sink.bodies('you@example.com').length === 1);
  } finally {
    all.kill('SIGTERM');
    await ended;
    await postgres.stop();
    await temporal.stop();
    await sink.close();
    rmSync(folder, { recursive: true, force: true });
  }
}, 300_000);
