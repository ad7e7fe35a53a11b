import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startChild } from '../../deploy/local/child.ts';
import { program } from '../../deploy/local/parts.ts';
import { startPostgres } from '../../deploy/local/postgres.ts';
import { here } from '../fleet/fleet.ts';
import { endWithThisProcess, noteProcess } from '../fleet/leftovers.ts';
import { freePorts } from '../fleet/plan.ts';
import { runProgram } from '../fleet/program.ts';
import { startFleetTemporal } from '../fleet/temporal.ts';
import { type Sink, startSink } from '../sink.ts';
import { type ComposeService, readCompose } from './file.ts';

/** The processes of deploy/compose.yaml on this machine, without containers. */
export type Installation = {
  baseUrl: string;
  rootEmail: string;
  /** The mail server of the system, and one that a workspace may use. */
  sink: Sink;
  healthUrls: Record<string, string>;
  stop(): Promise<void>;
};

type Servers = { postgresPort: number; temporalAddress: string; sink: Sink };

/** Where a service of the file is reached here, by the address that the file has for it. */
type Addresses = { of(service: string, port: string): string; replaceIn(text: string): string };

const rootEmail = 'root@example.com';
const portsMax = 40;

/**
 * Starts what the file builds as the file says: its commands with its variables and secrets and nothing else, in its order. PostgreSQL,
 * Temporal and the mail server are those of the tests.
 */
export async function startInstallation(): Promise<Installation> {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-compose-'));
  endWithThisProcess(folder);
  const closing: (() => Promise<unknown>)[] = [async () => rmSync(folder, { recursive: true })];
  const stop = async () => {
    for (const close of closing) await close();
  };
  try {
    const cache = join(here, '.postrider/cache');
    if (existsSync(cache)) cpSync(cache, join(folder, 'cache'), { recursive: true });
    await runProgram(here, ['bundle', join(folder, 'cache')], {});
    const ports = await freePorts(portsMax);
    const take = () => ports.pop() ?? 0;
    const servers = await startServers(folder, take(), closing);
    const addresses = addressesHere(servers, take);
    const baseUrl = `http://${addresses.of('gateway', '4400')}`;
    // As an operator writes it beside the file.
    const dotEnv = { PUBLIC_URL: baseUrl, EGRESS_ALLOW: '127.0.0.0/8', ROOT_EMAIL: rootEmail };
    const services = readCompose(join(here, 'deploy/compose.yaml'), dotEnv);
    const healthUrls = await up(services, { folder, addresses, take, closing });
    return { baseUrl, rootEmail, sink: servers.sink, healthUrls, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startServers(
  folder: string,
  postgresPort: number,
  closing: (() => Promise<unknown>)[],
): Promise<Servers> {
  const secrets = join(folder, 'secrets');
  await runProgram(
    here,
    ['secrets', secrets, '--postgres', `127.0.0.1:${postgresPort}/postrider`],
    {},
  );
  const sink = await startSink({ bodiesMax: 20 });
  closing.unshift(() => sink.close());
  const temporal = await startFleetTemporal(folder);
  closing.unshift(temporal.stop);
  const postgres = await startPostgres({
    folder: join(folder, 'postgres'),
    port: postgresPort,
    settings: { max_connections: '300', fsync: 'off' },
  });
  closing.unshift(postgres.stop);
  for (const pid of [temporal.pid, postgres.pid]) noteProcess(folder, pid);
  // The account of the official image.
  const password = readFileSync(join(secrets, 'postgres-password'), 'utf8').trim();
  const client = new pg.Client(postgres.url);
  await client.connect();
  await client.query(`create role postgres superuser login password '${password}'`);
  await client.end();
  return { postgresPort, temporalAddress: temporal.address, sink };
}

function addressesHere({ temporalAddress, sink }: Servers, take: () => number): Addresses {
  const known = new Map([
    ['temporal:7233', temporalAddress],
    ['mailpit:1025', `127.0.0.1:${sink.port}`],
  ]);
  const of = (service: string, port: string) => {
    const name = `${service}:${port}`;
    const address = known.get(name) ?? `127.0.0.1:${take()}`;
    known.set(name, address);
    return address;
  };
  return {
    of,
    replaceIn: (text) =>
      text.replace(/\b([a-z]+):(\d{4})\b/g, (_, service, port) => of(service, port)),
  };
}

type Place = {
  folder: string;
  addresses: Addresses;
  take: () => number;
  closing: (() => Promise<unknown>)[];
};

/** Starts each service once the conditions of those that it depends on are met. */
async function up(services: readonly ComposeService[], place: Place) {
  const healthUrls: Record<string, string> = {};
  const started = new Map<string, Promise<void>>();
  const start = (name: string): Promise<void> => {
    const service = services.find((each) => each.name === name);
    if (!service) throw new Error(`the file has no service ${name}`);
    const starting = started.get(name) ?? startService(service);
    started.set(name, starting);
    return starting;
  };
  const startService = async (service: ComposeService): Promise<void> => {
    await Promise.all(Object.keys(service.dependsOn).map(start));
    // Its folder is this account's own here.
    if (!service.isOurs || service.entrypoint) return;
    const isAwaited = Object.values(services).some(
      ({ dependsOn }) => dependsOn[service.name] === 'service_completed_successfully',
    );
    const env = environmentOf(service, place);
    if (isAwaited) await runProgram(here, service.command, env);
    else healthUrls[service.name] = await startProcess(service, env, place);
  };
  await Promise.all(services.map(({ name }) => start(name)));
  return healthUrls;
}

async function startProcess(
  { command }: ComposeService,
  env: Record<string, string>,
  { folder, take, closing }: Place,
): Promise<string> {
  const healthPort = take();
  // What the image sets, with a port for each since all are on one machine.
  const image = {
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    HEALTH_PORT: String(healthPort),
    CACHE_FOLDER: join(folder, 'cache'),
  };
  const running = await startChild(
    {
      command: process.execPath,
      args: [...program, ...command],
      env: { PATH: process.env.PATH, ...image, ...env },
      cwd: folder,
    },
    {
      log: () => {},
      spawned: (pid) => noteProcess(folder, pid),
      signal: new AbortController().signal,
    },
  );
  closing.unshift(running.stop);
  return `http://127.0.0.1:${healthPort}/readyz`;
}

/** The variables of a service, with addresses and paths of this machine. It finds the secrets that it lists, and no others. */
function environmentOf(
  { name, environment, secrets }: ComposeService,
  { folder, addresses }: Place,
): Record<string, string> {
  const own = join(folder, 'run', name);
  mkdirSync(own, { recursive: true });
  for (const secret of secrets) copyFileSync(join(folder, 'secrets', secret), join(own, secret));
  return Object.fromEntries(
    Object.entries(environment).map(([variable, value]) => {
      if (variable.endsWith('_FILE')) return [variable, value.replace('/run/secrets', own)];
      if (variable.endsWith('_PORT')) return [variable, portOf(addresses.of(name, value))];
      if (variable === 'MESSAGES_JOURNAL') return [variable, join(folder, 'journal')];
      return [variable, value.startsWith('http') ? value : addresses.replaceIn(value)];
    }),
  );
}

const portOf = (address: string) => address.split(':')[1] ?? '';
