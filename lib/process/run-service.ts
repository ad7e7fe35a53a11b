import type { DescService } from '@bufbuild/protobuf';
import type { ConnectRouter } from '@connectrpc/connect';
import { type Client, createClient, type Transport } from '@connectrpc/connect';
import type { TaskList } from 'graphile-worker';
import { WorkspaceDirectoryService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { type Env, flag, integer, list, required } from '#lib/config.ts';
import { runJobs } from '#lib/jobs/jobs.ts';
import { createKeyring, type Keyring } from '#lib/keys/keyring.ts';
import { createLog, type Log } from '#lib/log.ts';
import type { Store } from '#lib/postgres/store.ts';
import { connectToService } from '../rpc/client/client.ts';
import type { Authorize } from '../rpc/server/access.ts';
import { serve } from '../rpc/server/serve.ts';
import { readClientTls, readServerTls } from '../rpc/tls.ts';
import { onTermination } from './termination.ts';

/** The parts that every process has, whatever its service. */
export type Base = {
  env: Env;
  log: Log;
  keyring: Keyring;
  /** The service's database URL. */
  databaseUrl: string;
  /** A transport to another service, from `<NAME>_ADDR`. */
  peer(name: string): Transport;
  /** The same, or undefined where no such service is deployed. */
  peerIfDeployed(name: string): Transport | undefined;
};

export type ServiceProcess = {
  store: Store;
  services: readonly DescService[];
  routes: (router: ConnectRouter) => void;
  /** Jobs that this service runs. */
  tasks: TaskList;
  /** Jobs that wait for servers of tenants, in a lane of their own. */
  slowTasks?: TaskList;
  /** Those of `tasks` that run at the start and every minute. */
  minutely?: readonly string[];
  /** How calls are authorized; asks workspaces if absent. */
  authorize?: Authorize;
  close?(): Promise<void>;
};

export function openBase(name: string, env: Env): Base {
  const log = createLog(name, env.LOG_LEVEL);
  const keyring = createKeyring(required(env, 'SECRET_KEY'), { log });
  const transports = new Map<string, Transport>();
  const tls = readClientTls(env);
  const peerIfDeployed: Base['peerIfDeployed'] = (other) => {
    const addresses = list(env, `${other.toUpperCase()}_ADDR`);
    if (addresses.length === 0) return undefined;
    const transport =
      transports.get(other) ?? connectToService(addresses, { keyring, caller: name, tls });
    transports.set(other, transport);
    return transport;
  };
  return {
    env,
    log,
    keyring,
    databaseUrl: required(env, `${name.toUpperCase()}_DATABASE_URL`),
    peer(other) {
      const transport = peerIfDeployed(other);
      if (!transport) throw new Error(`${other.toUpperCase()}_ADDR is not set`);
      return transport;
    },
    peerIfDeployed,
  };
}

/**
 * Runs one service as a process: migrates (`migrate` as argument does only that), serves, runs its
 * jobs, says `ready` to a supervisor, and drains on SIGTERM.
 */
export async function runService(
  name: string,
  open: (base: Base) => Promise<ServiceProcess>,
): Promise<void> {
  const base = openBase(name, process.env);
  const service = await open(base);
  const onlyMigrate = process.argv[2] === 'migrate';
  if (onlyMigrate || flag(base.env, 'MIGRATE_ON_START')) await service.store.migrate();
  if (onlyMigrate) return service.store.close();
  const jobs = runJobs({
    url: base.databaseUrl,
    service: name,
    tasks: service.tasks,
    ...(service.slowTasks ? { slowTasks: service.slowTasks } : {}),
    minutely: service.minutely ?? [],
    log: base.log,
  });
  const server = await serve(
    {
      ...service,
      keyring: base.keyring,
      authorize:
        service.authorize ??
        authorizeBy(createClient(WorkspaceDirectoryService, base.peer('workspaces'))),
      demo: flag(base.env, 'DEMO_MODE'),
      log: base.log,
      tls: readServerTls(base.env),
      reflection: base.env.REFLECTION !== 'false',
      isReady: () => answers(service.store),
    },
    {
      host: base.env.HOST ?? '127.0.0.1',
      port: integer(base.env, `${name.toUpperCase()}_PORT`),
    },
  );
  base.log.info({ port: server.port }, 'ready');
  process.send?.('ready');
  onTermination(base.log, async () => {
    await server.drain();
    await jobs.stop();
    await service.close?.();
    await service.store.close();
  });
}

function authorizeBy(directory: Client<typeof WorkspaceDirectoryService>): Authorize {
  return (userId, sessionId, workspaceId) =>
    directory.authorize({ userId, sessionId, workspaceId });
}

async function answers(store: Store): Promise<boolean> {
  try {
    await store.ping();
    return true;
  } catch {
    return false;
  }
}
