import { readEnv } from '#lib/config.ts';
import type { Env, Variables } from '#lib/env.ts';
import { consumersOf, producersFor } from '#lib/events/contracts.ts';
import type { Keyset } from '#lib/keys/keyset.ts';
import { type RequestRates, readRequestRates } from '#lib/limits/request-limits.ts';
import type { LogFormat } from '#lib/log.ts';
import { readTelemetry, type TelemetryConfig } from '#lib/telemetry/config.ts';
import { type ClientTls, readClientTls, readServerTls, type ServerTls } from '../rpc/tls.ts';

/** The settings that every process of a service has. */
export type ServiceConfig = {
  name: string;
  logLevel: string;
  logFormat: LogFormat;
  keyset: Keyset;
  /** Only workspaces has it. */
  secretKeys?: readonly string[];
  databaseUrl: string;
  /** Connections to PostgreSQL at most: for calls, and for each lane of jobs. */
  databaseConnections: number;
  jobConnections: number;
  /**
   * Addresses of the processes of other services, `host:port`; empty for a service that is not
   * deployed.
   */
  addresses: ReadonlyMap<string, readonly string[]>;
  clientTls: ClientTls | undefined;
  host: string;
  /** Zero for a process that does not listen. */
  port: number;
  tls: ServerTls | undefined;
  demoMode: boolean;
  reflection: boolean;
  requestRates: RequestRates;
  migrateOnStart: boolean;
  telemetry: TelemetryConfig;
};

/** Only `serve` listens. */
export type Role = 'serve' | 'work' | 'once';

type Service = {
  name: string;
  /** Services that it calls, beside those whose events it takes. */
  peers: readonly string[];
  /** Services that it calls if they are deployed, beside those that take its events. */
  optionalPeers?: readonly string[];
};

const addressOf = (service: string) => `${service.toUpperCase()}_ADDR`;

/**
 * Makes the function that reads all settings of a service's process: the common ones and the
 * service's own.
 */
export function configReader<Own extends object>(
  { name, peers, optionalPeers = [] }: Service,
  readOwn: (variables: Variables) => Own,
): (env: Env, role: Role) => ServiceConfig & Own {
  const prefix = name.toUpperCase();
  const needed = [...new Set([...peers, ...producersFor(name)])];
  const consumers = consumersOf(name).map(({ consumer }) => consumer);
  const optional = [...new Set([...optionalPeers, ...consumers])].filter(
    (peer) => !needed.includes(peer),
  );
  return (env, role) =>
    readEnv(env, (variables) => ({
      name,
      logLevel: variables.text('LOG_LEVEL', 'info'),
      logFormat: variables.oneOf('LOG_FORMAT', ['json', 'pretty']),
      keyset: variables.keyset(name),
      databaseUrl: variables.databaseUrl(name),
      databaseConnections: variables.integer('DATABASE_CONNECTIONS', 10, { from: 2, to: 1_000 }),
      jobConnections: variables.integer('JOB_CONNECTIONS', 6, { from: 2, to: 1_000 }),
      addresses: new Map([
        ...needed.map((peer) => [peer, variables.requiredList(addressOf(peer))] as const),
        ...optional.map((peer) => [peer, variables.list(addressOf(peer))] as const),
      ]),
      clientTls: variables.derived(readClientTls),
      host: variables.text('HOST', '127.0.0.1'),
      port: role === 'serve' ? variables.integer(`${prefix}_PORT`) : 0,
      tls: role === 'serve' ? variables.derived(readServerTls) : undefined,
      demoMode: variables.flag('DEMO_MODE'),
      reflection: variables.text('REFLECTION', 'true') !== 'false',
      requestRates: readRequestRates(variables),
      migrateOnStart: variables.flag('MIGRATE_ON_START'),
      telemetry: readTelemetry(variables),
      ...readOwn(variables),
    }));
}
