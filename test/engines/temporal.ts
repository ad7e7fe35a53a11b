import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { startChild } from '../../deploy/local/child.ts';
import type { StackPart } from '../../deploy/local/supervisor.ts';
import { prepareTemporal, temporalNamespace } from '../../deploy/local/temporal.ts';
import { until } from '../stack/until.ts';
import { type Server, startServer } from './databases.ts';
import { run } from './programs/fetch.ts';
import { temporalServerPrograms } from './programs/temporal.ts';
import { freePorts, type Rig } from './rig.ts';
import { kills, sendThrough, startStackOn } from './sending.ts';
import { oneOfTwo, twins } from './split.ts';
import { clusterConfig, type Role, roles } from './temporal-config.ts';

const killEveryMs = 2_500;
/** How long a role that was killed is away. */
const awayMs = 8_000;
const killed = ['temporal-history', 'temporal-matching'];
const firstMsMax = 120_000;
/** Of Temporal's history of runs that have ended. */
const retentionSeconds = 72 * 3_600;

/**
 * A cluster of Temporal, a process for each of its roles, on PostgreSQL; and two of every process
 * of ours.
 */
export async function temporal(rig: Rig): Promise<void> {
  const programs = await temporalServerPrograms(rig.say);
  const server = await startServer(rig);
  for (const database of ['temporal', 'visibility']) await makeSchema(programs, server, database);
  const ports = await portsOf();
  const address = `127.0.0.1:${ports.frontend.grpc}`;
  writeFileSync(
    join(rig.folder, 'cluster.yaml'),
    JSON.stringify(clusterConfig(server.port, new URL(server.url('temporal')), ports)),
  );
  await rig.check('frontend, history, matching and worker are processes of their own', async () => {
    // They wait for each other.
    await Promise.all(roles.map((role) => rig.start(rolePart(rig, programs, role, address))));
    await register(address);
    return `${roles.length} processes`;
  });
  const stack = await startStackOn(rig, {
    replicas: 2,
    temporalAddress: address,
    environment: { REPLICAS: '2' },
  });
  await rig.check('two of every process of Postrider run', async () =>
    twins(stack.processes.names()),
  );
  const names = [...oneOfTwo.slice(0, 3), ...killed, ...oneOfTwo.slice(3), ...killed];
  await rig.check(
    'nobody is lost when history, matching and one of two of every process are killed',
    () =>
      sendThrough(rig, stack, {
        recipients: 4_000,
        schedule: kills(names, killEveryMs),
      }),
  );
}

async function portsOf() {
  const free = await freePorts(2 * roles.length);
  const pairs = roles.map((role, at) => [
    role,
    { grpc: free[2 * at] ?? 0, membership: free[2 * at + 1] ?? 0 },
  ]);
  return Object.fromEntries(pairs) as Record<Role, { grpc: number; membership: number }>;
}

/** By Temporal's own tool, as its documentation says. */
async function makeSchema(programs: string, server: Server, database: string): Promise<void> {
  const { username, password } = new URL(server.url(database));
  const to = ['--plugin', 'postgres12_pgx', '--ep', '127.0.0.1', '-p', String(server.port)];
  to.push('-u', username, '--pw', decodeURIComponent(password), '--db', database);
  const schema = `postgresql/v12/${database}`;
  for (const step of [
    ['create'],
    ['setup-schema', '-v', '0.0'],
    ['update-schema', '--schema-name', schema],
  ]) {
    await run(join(programs, 'sql'), [...to, ...step]);
  }
}

function rolePart({ folder }: Rig, programs: string, role: Role, address: string): StackPart {
  const args = ['--config-file', join(folder, 'cluster.yaml'), 'start', '--service', role];
  const answers = () => (role === 'frontend' ? untilAnswering(address) : Promise.resolve());
  const child = { command: join(programs, 'server'), args, env: { HOME: folder }, cwd: folder };
  let hasRun = false;
  return {
    name: `temporal-${role}`,
    async start(options) {
      if (hasRun) await sleep(awayMs, undefined, { signal: options.signal }).catch(() => {});
      hasRun = true;
      return startChild({ ...child, answers }, options);
    },
  };
}

const untilAnswering = (address: string): Promise<void> =>
  until('Temporal answers', () =>
    withFrontend(address, (service) => service.getSystemInfo({})).then(
      () => true,
      () => false,
    ),
  );

/** Registers the namespace, and waits until runs can be listed in it. */
async function register(address: string): Promise<void> {
  const namespace = temporalNamespace;
  const isThere = () =>
    withFrontend(address, async (service) => {
      await service
        .registerNamespace({
          namespace,
          workflowExecutionRetentionPeriod: { seconds: retentionSeconds as never },
        })
        .catch((error: { code?: number }) => {
          if (error.code !== alreadyExists) throw error;
        });
      await service.countWorkflowExecutions({ namespace });
    }).then(
      () => true,
      () => false,
    );
  await until('the namespace can be used', isThere, { withinMs: firstMsMax });
  await prepareTemporal(address);
}

const alreadyExists = 6;

async function withFrontend(
  address: string,
  work: (service: Connection['workflowService']) => Promise<unknown>,
): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: 2_000 });
  try {
    await work(connection.workflowService);
  } finally {
    await connection.close();
  }
}
