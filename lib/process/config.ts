import type { Variables } from '#lib/env.ts';
import { consumersOf, producersFor } from '#lib/events/contracts.ts';
import { readServiceKeys } from '#lib/keys/config.ts';
import type { Keyset } from '#lib/keys/keyset.ts';
import { type RequestRates, readRequestRates } from '#lib/limits/request-limits.ts';
import type { LogFormat } from '#lib/log.ts';
import { readDatabaseUrl } from '#lib/postgres/config.ts';
import { readTelemetry, type TelemetryConfig } from '#lib/telemetry/config.ts';
import { type ClientTls, readClientTls, readServerTls, type ServerTls } from '../rpc/tls.ts';

/** Settings of every process. */
export type ProcessConfig = {
  logLevel: string;
  logFormat: LogFormat;
  host: string;
  telemetry: TelemetryConfig;
};

export function readProcess(variables: Variables): ProcessConfig {
  const host = variables.text('HOST', {
    fallback: '127.0.0.1',
    about: 'The address to listen on; `0.0.0.0` in a container.',
  });
  return {
    logLevel: readLogLevel(variables),
    logFormat: variables.oneOf('LOG_FORMAT', ['json', 'pretty'], {
      about: 'JSON, an object a line, or lines for people.',
    }),
    host,
    telemetry: readTelemetry(variables, host),
  };
}

export function readLogLevel(variables: Variables): string {
  return variables.text('LOG_LEVEL', {
    fallback: 'info',
    about: 'What is logged: `debug`, `info`, `warn` or `error`, and what is worse.',
  });
}

/** Settings that the gateway and services share. */
export type CallConfig = {
  demoMode: boolean;
  reflection: boolean;
  requestRates: RequestRates;
  /** For calls to services. */
  clientTls: ClientTls | undefined;
};

export function readCalls(variables: Variables): CallConfig {
  return {
    demoMode: readDemoMode(variables),
    reflection: variables.flag('REFLECTION', {
      fallback: true,
      about: '`false` turns gRPC reflection off.',
    }),
    requestRates: readRequestRates(variables),
    clientTls: readClientTls(variables),
  };
}

export function readDemoMode(variables: Variables): boolean {
  return variables.flag('DEMO_MODE', {
    about: '`true` refuses operations that would let unauthenticated callers abuse a public demo.',
  });
}

/** The settings that every process of a service has. */
export type ServiceConfig = ProcessConfig &
  CallConfig &
  PoolSizes & {
    name: string;
    keyset: Keyset;
    /** Only workspaces has it. */
    secretKeys?: readonly string[];
    databaseUrl: string;
    /**
     * Addresses of the processes of other services, `host:port`; empty for a service that is not
     * deployed.
     */
    addresses: ReadonlyMap<string, readonly string[]>;
    /** Zero for a process that does not listen. */
    port: number;
    tls: ServerTls | undefined;
    migrateOnStart: boolean;
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

/**
 * Makes the function that reads all settings of a service's process: the common ones and the
 * service's own.
 */
export function configReader<Own extends object>(
  { name, peers, optionalPeers = [] }: Service,
  readOwn: (variables: Variables) => Own,
): (variables: Variables, role: Role) => ServiceConfig & Own {
  const needed = [...new Set([...peers, ...producersFor(name)])];
  const consumers = consumersOf(name).map(({ consumer }) => consumer);
  const optional = [...new Set([...optionalPeers, ...consumers])].filter(
    (peer) => !needed.includes(peer),
  );
  return (variables, role) => ({
    name,
    ...readProcess(variables),
    keyset: readServiceKeys(variables, name),
    databaseUrl: readDatabaseUrl(variables, name),
    ...readPoolSizes(variables),
    addresses: readAddresses(variables, needed, optional),
    port: role === 'serve' ? readPort(variables, name) : 0,
    tls: role === 'serve' ? readServerTls(variables) : undefined,
    ...readCalls(variables),
    migrateOnStart: variables.flag('MIGRATE_ON_START', {
      about: '`true` migrates the schema at the start; else `postrider migrate` does.',
    }),
    ...readOwn(variables),
  });
}

const readPort = (variables: Variables, service: string) =>
  variables.integer(`${service.toUpperCase()}_PORT`, {
    about: 'The port for gRPC and Connect. Workers do not listen.',
  });

/** Connections to PostgreSQL at most: for calls, and for each lane of jobs. */
export type PoolSizes = { databaseConnections: number; jobConnections: number };

export function readPoolSizes(variables: Variables): PoolSizes {
  const range = { from: 2, to: 1_000 };
  return {
    databaseConnections: variables.integer('DATABASE_CONNECTIONS', {
      ...range,
      fallback: 10,
      about: 'Connections of a process to PostgreSQL at most, for calls and activities.',
    }),
    jobConnections: variables.integer('JOB_CONNECTIONS', {
      ...range,
      fallback: 6,
      about:
        'The same for its jobs; twice as many in messages and workspaces, which have two lanes of jobs. Contacts and messages have three more for events, workers none.',
    }),
  };
}

/** The addresses of services, by their names; those that may be left out are empty then. */
export function readAddresses(
  variables: Variables,
  needed: readonly string[],
  optional: readonly string[] = [],
): ReadonlyMap<string, readonly string[]> {
  const name = (service: string) => `${service.toUpperCase()}_ADDR`;
  const text = {
    about:
      'Where a service is: `host:port`, several separated by commas. Calls are spread over all addresses behind a name, which are looked up every 5 s. Only of services that the process calls; `WEBHOOKS_ADDR` may be left out of contacts, messages and workspaces where webhooks is not deployed.',
  };
  return new Map([
    ...needed.map((service) => [service, variables.requiredList(name(service), text)] as const),
    ...optional.map((service) => [service, variables.list(name(service), text)] as const),
  ]);
}
