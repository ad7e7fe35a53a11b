import type { DescService } from '@bufbuild/protobuf';
import type { ConnectRouter } from '@connectrpc/connect';
import { type Client, createClient, type Transport } from '@connectrpc/connect';
import type { TaskList } from 'graphile-worker';
import { WorkspaceDirectoryService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { createCache } from '#lib/cache.ts';
import { readEnv } from '#lib/config.ts';
import type { Env, Variables } from '#lib/env.ts';
import { runEventJobs } from '#lib/events/event-runner.ts';
import type { EventTask } from '#lib/events/event-turns.ts';
import { auditByJob, auditTasks } from '#lib/jobs/audit.ts';
import { measureJobs } from '#lib/jobs/job-metrics.ts';
import { type NoticeHandlers, runJobs } from '#lib/jobs/jobs.ts';
import { createKeyring, type Keyring } from '#lib/keys/keyring.ts';
import { oldCredentialKeys, oldTokenVerifier } from '#lib/keys/secret-key.ts';
import { clockWatch } from '#lib/keys/tokens.ts';
import { RequestLimits } from '#lib/limits/request-limits.ts';
import { type ReportUsage, shareUsage, usageReporter } from '#lib/limits/share-usage.ts';
import { createLog, type Log } from '#lib/log.ts';
import { databaseVariable } from '#lib/postgres/config.ts';
import { firstConnection } from '#lib/postgres/first-connection.ts';
import { resealColumn, type SealedColumn } from '#lib/postgres/reseal.ts';
import type { Store } from '#lib/postgres/store.ts';
import { connectToService } from '../rpc/client/client.ts';
import { oldTokenVerifier as askingVerifier } from '../rpc/client/old-tokens.ts';
import type { Authorize } from '../rpc/server/access.ts';
import type { AuditSink } from '../rpc/server/audit.ts';
import { serve } from '../rpc/server/serve.ts';
import type { Role, ServiceConfig } from './config.ts';
import type { ProcessPart, Readiness, RunningProcess } from './part.ts';

/** The parts that every process has, whatever its service. */
export type Base = {
  log: Log;
  keyring: Keyring;
  /** A transport to another service. */
  peer(name: string): Transport;
  /** The same, or undefined if no such service is deployed. */
  peerIfDeployed(name: string): Transport | undefined;
};

export type ServiceProcess = {
  store: Store;
  services: readonly DescService[];
  routes: (router: ConnectRouter) => void;
  /** Jobs that this service runs. */
  tasks: TaskList;
  /** Delivers the events of this service, in which workspaces take turns. */
  deliverEvents?: EventTask;
  /** Jobs that wait for servers of tenants, with a runner of their own. */
  slowTasks?: TaskList;
  /** Handlers of notices from other processes of the service, by name. */
  notices?: NoticeHandlers;
  /** Its sealed columns; `rotate-secrets` as argument seals them by the key in use. */
  sealed?: readonly SealedColumn[];
  /** Names of `tasks` that run at the start and every minute. */
  minutely?: readonly string[];
  /** How calls are authorized; asks workspaces if absent. */
  authorize?: Authorize;
  /** Where audit entries are written; a job sends them to workspaces if absent. */
  audit?: AuditSink;
  /** How requests are counted for all processes; asks workspaces if absent. */
  reportUsage?: ReportUsage;
  /** Called after migrations, before the service answers or runs a job. */
  prepare?(): Promise<void>;
  close?(): Promise<void>;
};

export function openBase(config: ServiceConfig): Base {
  const { name, keyset, secretKeys, addresses, clientTls } = config;
  const log = createLog(name, config.logLevel, config.logFormat);
  const verifyOld = secretKeys
    ? oldTokenVerifier(secretKeys, clockWatch(log))
    : askingVerifier((token) => directory().authorize({ token }));
  const oldCredentials = oldCredentialKeys(secretKeys ?? []);
  const oldKeys = createCache<readonly Uint8Array[]>({ entriesMax: 1_000, keepMs: 10 * 60_000 });
  const oldBoxKeys = (purpose: string, workspaceId: string) =>
    oldKeys(`${purpose} ${workspaceId}`, async () => {
      const { keys } = await directory().getOldBoxKeys({ purpose, workspaceId });
      return keys;
    });
  const keyring = createKeyring(keyset, { log, verifyOld, oldCredentials, oldBoxKeys });
  const transports = new Map<string, Transport>();
  const peerIfDeployed: Base['peerIfDeployed'] = (other) => {
    const known = addresses.get(other);
    if (known === undefined) throw new Error(`${other} is not a peer in the config of ${name}`);
    if (known.length === 0) return undefined;
    const transport = transports.get(other) ?? connectToService(known, { keyring, tls: clientTls });
    transports.set(other, transport);
    return transport;
  };
  const peer: Base['peer'] = (other) => {
    const transport = peerIfDeployed(other);
    if (!transport) throw new Error(`${other} is not deployed`);
    return transport;
  };
  const directory = () => createClient(WorkspaceDirectoryService, peer('workspaces'));
  return { log, keyring, peer, peerIfDeployed };
}

export type ServicePart = ProcessPart & {
  /**
   * Seals anew what the service stores, by the key in use. Answers how much cannot be opened: its
   * old key is still needed, or it is lost.
   */
  reseal(env: Env): Promise<number>;
};

type Open<Config> = (base: Base, config: Config) => Promise<ServiceProcess>;

/**
 * A service as part of a process: it migrates if configured to, serves, runs its jobs, and drains
 * when it is stopped.
 */
export function servicePart<Config extends ServiceConfig>(
  readConfig: (variables: Variables, role: Role) => Config,
  open: Open<Config>,
): ServicePart {
  return {
    configure(env) {
      const config = readEnv(env, (variables) => readConfig(variables, 'serve'));
      return () => start(config, open);
    },
    async reseal(env) {
      const config = readEnv(env, (variables) => readConfig(variables, 'once'));
      const base = openBase(config);
      const { store, sealed = [] } = await open(base, config);
      let unreadable = 0;
      for (const column of sealed) {
        unreadable += (await resealColumn(store, column, base.log)).unreadable;
      }
      await store.close();
      return unreadable;
    },
  };
}

async function start<Config extends ServiceConfig>(
  config: Config,
  open: Open<Config>,
): Promise<RunningProcess> {
  const base = openBase(config);
  const service = await open(base, config);
  const { store } = service;
  // Others start while the database is away, and are not ready until it answers.
  if (config.migrateOnStart || service.prepare) await requireDatabase(store, config);
  if (config.migrateOnStart) await store.migrate();
  measureJobs(store);
  await service.prepare?.();
  const { log } = base;
  const jobs = runServiceJobs(base, service, config);
  const events = runServiceEvents(base, service, config);
  const directory = () => createClient(WorkspaceDirectoryService, base.peer('workspaces'));
  const limits = new RequestLimits(config.requestRates);
  const sharing = shareUsage(limits, service.reportUsage ?? usageReporter(directory()), log);
  const server = await serve(
    {
      ...service,
      audit: { store, write: service.audit ?? auditByJob(config.name), log },
      keyring: base.keyring,
      limits,
      authorize: service.authorize ?? authorizeBy(directory()),
      demo: config.demoMode,
      log,
      tls: config.tls,
      reflection: config.reflection,
      isReady: () => answers(store),
    },
    config,
  );
  log.info({ port: server.port }, 'ready');
  return {
    log,
    readiness: () => databaseReadiness(store),
    retire: server.retire,
    async stop() {
      await server.drain();
      sharing.stop();
      await Promise.all([jobs.stop(), events?.stop()]);
      await service.close?.();
      await store.close();
    },
  };
}

function runServiceJobs(base: Base, service: ServiceProcess, config: ServiceConfig) {
  return runJobs({
    url: config.databaseUrl,
    service: config.name,
    tasks: service.audit
      ? service.tasks
      : { ...service.tasks, ...auditTasks(config.name, base.peer('workspaces')) },
    ...(service.slowTasks ? { slowTasks: service.slowTasks } : {}),
    minutely: service.minutely ?? [],
    ...(service.notices ? { notices: service.notices } : {}),
    connectionsMax: config.jobConnections,
    log: base.log,
  });
}

function runServiceEvents({ log }: Base, service: ServiceProcess, config: ServiceConfig) {
  const { deliverEvents: task } = service;
  return task && runEventJobs({ url: config.databaseUrl, service: config.name, task, log });
}

async function requireDatabase(store: Store, { name }: ServiceConfig): Promise<void> {
  try {
    await firstConnection(store);
  } catch (cause) {
    throw new Error(`the database of ${databaseVariable(name)} cannot be used`, { cause });
  }
}

/** Whether the database answers, with the schema that this version needs. */
export async function databaseReadiness(store: Store): Promise<Readiness> {
  const missing: string[] = [];
  try {
    const pending = await store.pendingMigrations();
    if (pending.length > 0) {
      const names = pending.join(', ');
      missing.push(
        `migrations of ${store.name} (${names}): run \`postrider migrate ${store.name}\``,
      );
    }
  } catch {
    missing.push(`the database of ${databaseVariable(store.name)} does not answer`);
  }
  return { missing, warnings: [] };
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
