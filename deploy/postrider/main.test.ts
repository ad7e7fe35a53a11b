import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { getPriority, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { programVariables } from '../../test/setup/program.ts';
import { temporalServer } from '../../test/setup/temporal.ts';
import { until } from '../../test/stack/until.ts';
import { keepKeys, serviceKeysOf } from '../keys/file.ts';
import { newInstallation } from '../keys/installation.ts';
import { freePort } from '../local/ports.ts';
import { report } from './doctor/doctor.ts';
import { serviceNames, words } from './parts.ts';

/** In Temporal's API. */
const autoUpgrade = 2;
/** Processes start slowly on a busy machine. */
const processTimeoutMs = 300_000;

const program = join(import.meta.dirname, 'main.ts');
const folder = mkdtempSync(join(tmpdir(), 'postrider-entry-'));
const installation = newInstallation();
const database = `entry_${process.pid}`;

let temporal: TestWorkflowEnvironment;
let mailServer: ReturnType<typeof createServer>;
beforeAll(async () => {
  temporal = await temporalServer();
  mailServer = createServer((socket) => {
    socket.on('error', () => {}).write('220 localhost ESMTP\r\n');
    socket.on('data', () => socket.write('250 localhost\r\n'));
  }).listen(0, '127.0.0.1');
  await once(mailServer, 'listening');
}, 60_000);
afterAll(async () => {
  mailServer.close();
  await temporal.teardown();
});

let child: ChildProcess | undefined;
afterEach(() => void child?.kill('SIGKILL'));

type Ended = { code: number; stdout: string; stderr: string };

function postrider(args: string[], env: Record<string, string>): Promise<Ended> {
  return new Promise((ended) => {
    const given = { env: { ...programVariables(), ...env } };
    execFile(process.execPath, [program, ...args], given, (error, stdout, stderr) =>
      ended({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    );
  });
}

/** The doctor by itself, without the seconds of a core that the program takes to start. */
const told = (env: Record<string, string>) => report({ ...programVariables(), ...env });

async function start(word: string, env: Record<string, string>): Promise<ChildProcess> {
  const process = fork(program, [word], {
    env: { ...programVariables(), ...env },
    execArgv: [],
    stdio: 'ignore',
  });
  child = process;
  expect(await once(process, 'message')).toEqual(['ready', undefined]);
  return process;
}

async function stop(process: ChildProcess): Promise<void> {
  process.kill('SIGTERM');
  expect(await once(process, 'exit')).toEqual([0, null]);
}

const superuser = () => process.env.TEST_POSTGRES_URL ?? '';

function serviceUrl(name: string, password = 'it is secret'): string {
  const url = new URL(superuser());
  url.username = name;
  url.password = password;
  url.pathname = `/${database}`;
  return url.href;
}

const secretFile = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, `${text}\n`, { mode: 0o600 });
  return path;
};

/** The variables of a service's container: its secrets are files. */
function settingsOf(name: string, port: number, healthPort: number): Record<string, string> {
  keepKeys(join(folder, 'keys.json'), installation);
  return {
    SERVICE_KEYS_FILE: secretFile(`${name}-keys`, serviceKeysOf(installation, name)),
    DATABASE_URL_FILE: secretFile('url', sharedUrl()),
    [`${name.toUpperCase()}_PORT`]: String(port),
    HEALTH_PORT: String(healthPort),
    TEMPORAL_ADDRESS: temporal.address,
    CACHE_FOLDER: resolve('.postrider/cache'),
    ...Object.fromEntries(
      serviceNames.map((each) => [`${each.toUpperCase()}_ADDR`, '127.0.0.1:1']),
    ),
  };
}

/** A role and a database of their own, so that the roles of other tests keep their passwords. */
function sharedUrl(): string {
  const url = new URL(superuser());
  url.username = `all_${process.pid}`;
  url.password = 'it is secret';
  url.pathname = `/${database}`;
  return url.href;
}

/** A busy machine may miss the time that a process gives Temporal to answer. */
async function untilReady(port: number) {
  for (;;) {
    const answer = await readyz(port);
    if (answer.status === 200) return answer;
    expect(JSON.stringify(answer.missing)).toContain('DEADLINE_EXCEEDED');
  }
}

async function readyz(port: number) {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
  return { status: answer.status, ...Object(await answer.json()) };
}

test(
  'migrate needs nothing but database URLs, and a superuser only for --provision',
  async () => {
    const DATABASE_URL = sharedUrl();
    const refused = await postrider(['migrate'], { DATABASE_URL });
    expect(refused.code).toBe(1);
    expect(refused.stderr).not.toContain('it is secret');
    const first = await postrider(['migrate', '--provision'], {
      DATABASE_URL,
      SUPERUSER_DATABASE_URL: superuser(),
    });
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toContain('contacts: m0001-initial');
    const again = await postrider(['migrate', 'contacts', 'webhooks'], { DATABASE_URL });
    expect(again.stdout).toBe('contacts: nothing to do\nwebhooks: nothing to do\n');
    expect((await postrider(['migrate', 'people'], { DATABASE_URL })).stderr).toBe(
      'no service is called people\n',
    );
  },
  processTimeoutMs,
);

test(
  'a service starts with its secrets in files, and is ready by HTTP',
  async () => {
    const [port, healthPort] = [await freePort(), await freePort()];
    const process = await start('templates', settingsOf('templates', port, healthPort));
    expect(await readyz(healthPort)).toEqual({
      status: 200,
      ready: true,
      missing: [],
      warnings: [],
    });
    await stop(process);
  },
  processTimeoutMs,
);

test(
  'a process that has to stop says so, serves on for a while, and ends connections by its answers',
  async () => {
    const [port, healthPort] = [await freePort(), await freePort()];
    const process = await start('gateway', {
      ...settingsOf('gateway', port, healthPort),
      SHUTDOWN_DELAY_SECONDS: '3',
    });
    const exited = once(process, 'exit');
    const ask = () => fetch(`http://127.0.0.1:${port}/api/contacts.count`);
    expect((await ask()).headers.get('connection')).toBe('keep-alive');
    process.kill('SIGTERM');
    while ((await readyz(healthPort)).status === 200);
    const answer = await ask();
    expect([answer.status, answer.headers.get('connection')]).toEqual([401, 'close']);
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(503);
    expect(await exited).toEqual([0, null]);
  },
  processTimeoutMs,
);

test(
  'a worker says that it is ready, and what its database lacks, at a lower priority of the operating system',
  async () => {
    const healthPort = await freePort();
    const settings = settingsOf('webhooks', 0, healthPort);
    const process = await start('webhooks-worker', settings);
    expect(await untilReady(healthPort)).toMatchObject({ status: 200, missing: [] });
    expect(getPriority(process.pid)).toBeGreaterThan(getPriority());
    await stop(process);
    const other = serviceUrl('nobody');
    const path = secretFile('other', other);
    const lame = await start('webhooks-worker', { ...settings, DATABASE_URL_FILE: path });
    expect(await readyz(healthPort)).toMatchObject({
      status: 503,
      missing: ['webhooks-worker: the database of WEBHOOKS_DATABASE_URL does not answer'],
    });
    await stop(lame);
  },
  processTimeoutMs,
);

test(
  'a worker with a build id takes runs once its build is the current one, and runs move to it',
  async () => {
    const settings = settingsOf('webhooks', 0, await freePort());
    const { client } = temporal;
    const namespace = 'default';
    const deploymentName = 'postrider-webhooks';
    const builds = async () => {
      const { workerDeploymentInfo: info } = await client.workflowService.describeWorkerDeployment({
        namespace,
        deploymentName,
      });
      return info?.versionSummaries?.map(({ deploymentVersion: version }) => version?.buildId);
    };
    const worker = await start('webhooks-worker', { ...settings, WORKER_BUILD_ID: '1.2.3' });
    await until('the build is known', async () =>
      ((await builds().catch(() => [])) ?? []).includes('1.2.3'),
    );
    const handle = await client.workflow.start('webhookRetries', {
      taskQueue: 'webhooks',
      workflowId: `webhook/nobody/${process.pid}`,
      args: [{ workspaceId: 'nobody', id: 'none' }, []],
    });
    await client.workflowService.setWorkerDeploymentCurrentVersion({
      namespace,
      deploymentName,
      buildId: '1.2.3',
    });
    await handle.result();
    const { raw } = await handle.describe();
    expect(raw.workflowExecutionInfo?.versioningInfo).toMatchObject({
      behavior: autoUpgrade,
      deploymentVersion: { buildId: '1.2.3', deploymentName },
    });
    await stop(worker);
  },
  processTimeoutMs,
);

test(
  'all runs every service, worker and the gateway in one process, with one URL and one file of keys',
  async () => {
    const [gatewayPort, healthPort] = [await freePort(), await freePort()];
    const ports = await Promise.all(serviceNames.map(() => freePort()));
    const keys = [...serviceNames, 'gateway'].map((name) => serviceKeysOf(installation, name));
    const process = await start('all', {
      SERVICE_KEYS_FILE: secretFile('all-keys', keys.join('\n')),
      DATABASE_URL_FILE: secretFile('url', sharedUrl()),
      SECRET_KEY_FILE: secretFile('secret-key', 'a secret key that is long enough: 0123456789'),
      ...Object.fromEntries(
        serviceNames.map((name, index) => [`${name.toUpperCase()}_PORT`, String(ports[index])]),
      ),
      GATEWAY_PORT: String(gatewayPort),
      PUBLIC_URL: `http://127.0.0.1:${gatewayPort}`,
      HEALTH_PORT: String(healthPort),
      TEMPORAL_ADDRESS: temporal.address,
      CACHE_FOLDER: resolve('.postrider/cache'),
    });
    expect(await untilReady(healthPort)).toMatchObject({ status: 200, missing: [] });
    const refused = await fetch(`http://127.0.0.1:${gatewayPort}/api/user.rootSignin`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'root@example.com', timestamp: 1, signature: 'none' }),
    });
    expect(refused.status).toBe(401);
    // Its services answer people, so that its workers have their priority.
    expect(getPriority(process.pid)).toBe(getPriority());
    await stop(process);
  },
  processTimeoutMs,
);

test('the help names every word, also behind a command of operators', async () => {
  const { stderr, code } = await postrider(['help'], {});
  expect(code).toBe(0);
  const callers = ['login', 'listen', 'trigger', 'mcp', 'completion'];
  const missing = [...words, ...callers].filter(
    (word) => !new RegExp(`\\b${word}\\b`).test(stderr),
  );
  expect(missing).toEqual([]);
  for (const command of ['secrets', 'migrate', 'doctor'])
    expect(await postrider([command, '--help'], {})).toEqual({ code: 0, stdout: '', stderr });
});

test('wrong settings of all parts are named in one line', async () => {
  const { code, stderr } = await postrider(['worker'], { HEALTH_PORT: 'no' });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^wrong settings: HEALTH_PORT must be a whole number, not no; .*\n$/);
  for (const name of ['BROADCASTS', 'CONTACTS', 'WEBHOOKS'])
    expect(stderr).toContain(`${name}_DATABASE_URL is not set, nor is DATABASE_URL`);
  expect(stderr.match(/TEMPORAL_ADDRESS is not set/g)).toHaveLength(1);
});

test(
  'the doctor finds nothing wrong with a good installation',
  async () => {
    const { port } = mailServer.address() as { port: number };
    const { code, stdout } = await postrider(['doctor'], {
      DATABASE_URL: sharedUrl(),
      TEMPORAL_ADDRESS: temporal.address,
      SYSTEM_SMTP_URL: `smtp://127.0.0.1:${port}`,
      SERVICE_KEYS: serviceKeysOf(installation, 'gateway'),
      CONTACTS_ADDR: `127.0.0.1:${port}`,
      GATEWAY_PORT: '4400',
      PUBLIC_URL: 'https://mail.example.com',
    });
    expect(stdout).not.toContain('WRONG');
    expect(stdout).toContain('answers and has the namespace default');
    expect(stdout).toContain('all migrations have run');
    // The server of tests waits for no disk.
    for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes'])
      expect(stdout).toContain(`${setting} is off`);
    expect(code).toBe(0);
  },
  processTimeoutMs,
);

test(
  'the doctor names all variables that nothing sets, and how to make keys where there are none',
  async () => {
    const { code, stdout } = await postrider(['doctor'], {});
    expect(code).toBe(1);
    const names = [...stdout.matchAll(/^WRONG +(\w+):/gm)].map(([, name]) => name);
    expect(names.toSorted()).toEqual([
      'DATABASE_URL',
      'GATEWAY_PORT',
      'PUBLIC_URL',
      'SECRET_KEY',
      'SERVICE_KEYS',
      'TEMPORAL_ADDRESS',
    ]);
    expect(stdout).toContain('postrider secrets');
  },
  processTimeoutMs,
);

test(
  'the doctor says what is wrong, and what helps',
  async () => {
    const { code, stdout } = await told({
      CONTACTS_DATABASE_URL: serviceUrl('nobody'),
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      SYSTEM_SMTP_URL: 'smtp://127.0.0.1:1',
      SERVICE_KEYS: 'none',
      MESSAGES_ADDR: '127.0.0.1:1',
      MESSAGES_ADR: 'x',
    });
    expect(code).toBe(1);
    for (const text of [
      'WRONG    CONTACTS_DATABASE_URL: cannot be used',
      'WRONG    TEMPORAL_ADDRESS: 127.0.0.1:1 accepts no connection',
      'WRONG    SYSTEM_SMTP_URL: the mail server refuses',
      'WRONG    SERVICE_KEYS: one is not a keyset',
      'WRONG    MESSAGES_ADDR: 127.0.0.1:1 accepts no connection',
      'nothing reads MESSAGES_ADR (is it MESSAGES_ADDR?)',
    ])
      expect(stdout).toContain(text);
    expect(stdout).not.toContain('it is secret');
  },
  processTimeoutMs,
);

test(
  'the doctor names a namespace that Temporal lacks, and the command that makes it',
  async () => {
    const { code, stdout } = await told({
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: 'nowhere',
    });
    expect(code).toBe(1);
    expect(stdout).toContain('WRONG    TEMPORAL_ADDRESS: Temporal, namespace nowhere');
    expect(stdout).toContain('temporal operator namespace create --namespace nowhere');
  },
  processTimeoutMs,
);
