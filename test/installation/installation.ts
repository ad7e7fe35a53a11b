import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
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
import { programVariables } from '../setup/program.ts';
import { type Sink, startSink } from '../sink.ts';
import type { Container } from './compose-file.ts';

/** The processes of an installation's containers on this machine, without containers. */
export type Installation = {
  baseUrl: string;
  rootEmail: string;
  /** The mail server of the system, and one that a workspace may use. */
  sink: Sink;
  healthUrls: Record<string, string>;
  stop(): Promise<void>;
};

type Servers = { temporalAddress: string; sink: Sink };

/** Maps the addresses of an installation, such as `contacts:4411`, to those of this machine. */
type Addresses = { of(name: string, port: string): string; replaceIn(text: string): string };

/** Variables that an operator sets. */
export type Settled = {
  PUBLIC_URL: string;
  EGRESS_ALLOW: string;
  ROOT_EMAIL: string;
  SYSTEM_SMTP_URL: string;
};

type Options = {
  containers(settled: Settled): Container[];
  /** Of host names: a chart puts the release's name before those of services. */
  prefix?: string;
  /**
   * The steps that an operator takes first, by the documentation. Is given the folder of the
   * secrets.
   */
  prepare?(secrets: string): Promise<void>;
};

const rootEmail = 'root@example.com';
const portsMax = 60;

/**
 * Starts containers of ours as they are described: their commands with their variables and secrets
 * and nothing else, in their order. PostgreSQL, Temporal and the mail server are those of the
 * tests.
 */
export async function startInstallation(options: Options): Promise<Installation> {
  const { containers, prefix = '', prepare } = options;
  const folder = mkdtempSync(join(tmpdir(), 'postrider-installation-'));
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
    await prepare?.(join(folder, 'secrets'));
    const addresses = addressesHere(servers, prefix, take);
    const baseUrl = `http://${addresses.of('gateway', '4400')}`;
    const settled = {
      PUBLIC_URL: baseUrl,
      EGRESS_ALLOW: '127.0.0.0/8',
      ROOT_EMAIL: rootEmail,
      SYSTEM_SMTP_URL: 'smtp://mailpit:1025',
    };
    const healthUrls = await up(containers(settled), { folder, addresses, take, closing });
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
  await runProgram(here, ['secrets', secrets], {});
  for (const name of readdirSync(secrets).filter((each) => each.endsWith('-database-url'))) {
    const file = join(secrets, name);
    const url = readFileSync(file, 'utf8').replace('@postgres:5432', `@127.0.0.1:${postgresPort}`);
    writeFileSync(file, url);
  }
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
  return { temporalAddress: temporal.address, sink };
}

function addressesHere(
  { temporalAddress, sink }: Servers,
  prefix: string,
  take: () => number,
): Addresses {
  const known = new Map([
    ['temporal:7233', temporalAddress],
    ['mailpit:1025', `127.0.0.1:${sink.port}`],
  ]);
  const of = (name: string, port: string) => {
    const address = known.get(`${name}:${port}`) ?? `127.0.0.1:${take()}`;
    known.set(`${name}:${port}`, address);
    return address;
  };
  return {
    of,
    replaceIn: (text) =>
      text.replace(/\b([a-z-]+):(\d{4})\b/g, (_, name: string, port: string) =>
        of(name.replace(prefix, ''), port),
      ),
  };
}

type Place = {
  folder: string;
  addresses: Addresses;
  take: () => number;
  closing: (() => Promise<unknown>)[];
};

/** Starts each container once the conditions of those that it depends on are met. */
async function up(containers: readonly Container[], place: Place) {
  const healthUrls: Record<string, string> = {};
  const started = new Map<string, Promise<void>>();
  const start = (name: string): Promise<void> => {
    const container = containers.find((each) => each.name === name);
    if (!container) throw new Error(`there is no container ${name}`);
    const starting = started.get(name) ?? startContainer(container);
    started.set(name, starting);
    return starting;
  };
  const startContainer = async (container: Container): Promise<void> => {
    const { name, isOurs, command, dependsOn } = container;
    await Promise.all(Object.keys(dependsOn).map(start));
    if (!isOurs) return;
    const env = environmentOf(container, place);
    const endsByItself = containers.some(
      (other) => other.dependsOn[name] === 'service_completed_successfully',
    );
    if (endsByItself) await runProgram(here, command, env);
    else
      healthUrls[name] = await startProcess(container, env, place).catch((cause) => {
        throw new Error(`${name} did not start`, { cause });
      });
  };
  // All of them, so that none is left behind when one fails.
  const outcomes = await Promise.allSettled(containers.map(({ name }) => start(name)));
  const failed = outcomes.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
  return healthUrls;
}

async function startProcess(
  { command }: Container,
  env: Record<string, string>,
  { folder, take, closing }: Place,
): Promise<string> {
  const healthPort = take();
  // The variables of the image. Ports differ, since all processes are on one machine.
  const image = {
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    HEALTH_PORT: String(healthPort),
    CACHE_FOLDER: join(folder, 'cache'),
    ...('METRICS_PORT' in env ? { METRICS_PORT: String(take()) } : {}),
  };
  const running = await startChild(
    {
      command: process.execPath,
      args: [...program, ...command],
      env: { ...programVariables(), ...env, ...image },
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

/**
 * The variables of a container, with addresses and paths of this machine. It finds the secrets that
 * it lists, and no others.
 */
function environmentOf(
  { name, environment, secrets, secretsFolder }: Container,
  { folder, addresses }: Place,
): Record<string, string> {
  const own = join(folder, 'run', name);
  mkdirSync(own, { recursive: true });
  for (const secret of secrets) copyFileSync(join(folder, 'secrets', secret), join(own, secret));
  return Object.fromEntries(
    Object.entries(environment).map(([variable, value]) => {
      if (variable.endsWith('_FILE')) return [variable, value.replace(secretsFolder, own)];
      if (variable.endsWith('_PORT') && value !== '')
        return [variable, portOf(addresses.of(name, value))];
      if (variable === 'MESSAGES_JOURNAL') return [variable, join(folder, 'journal')];
      return [variable, value.startsWith('http') ? value : addresses.replaceIn(value)];
    }),
  );
}

const portOf = (address: string) => address.split(':')[1] ?? '';
