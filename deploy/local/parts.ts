import { join } from 'node:path';
import { keysFile, readKeys, serviceKeysOf } from '../keys/file.ts';
import { type ServiceName, serviceNames } from '../postrider/parts.ts';
import { startChild } from './child.ts';
import { startPostgres } from './postgres.ts';
import type { Secrets } from './secrets.ts';
import type { StackConfig } from './stack-config.ts';
import { replicaName, servicesWithWorkflows } from './stack-ports.ts';
import type { StackPart } from './supervisor.ts';
import { temporalNamespace } from './temporal.ts';

type Variables = Record<string, string>;

/**
 * V8 lets the new generation of a busy process grow to 134 MB; with this it takes no more processor
 * time and stays below 48 MB. It also begins four threads for collections and compilation in each
 * process, which only take the cores from other processes of the same machine; one is enough.
 */
export const nodeFlags = ['--max-semi-space-size=16', '--v8-pool-size=1'];

/** The one entry of all processes, as arguments of Node. */
export const program = [...nodeFlags, join(import.meta.dirname, '../postrider/main.ts')];

export function postgresPart({ folder, ports }: StackConfig, password: string): StackPart {
  return {
    name: 'postgres',
    start: ({ log }) =>
      startPostgres({
        folder: join(folder, 'postgres'),
        port: ports.postgres,
        password,
        detached: true,
        log,
      }),
  };
}

export function inboxPart(config: StackConfig): StackPart {
  const { folder, ports } = config;
  return nodePart('inbox', [join(import.meta.dirname, 'inbox/main.ts')], folder, () => ({
    INBOX_PORT: String(ports.inbox),
    SMTP_PORT: String(ports.smtp),
    INBOX_FOLDER: join(folder, 'inbox'),
    ...(takesReturns(config) ? { INBOX_RETURNS_PORT: String(ports.inbound) } : {}),
  }));
}

/**
 * The services, their workers of workflows, the gateway, `relay` and `inbound`, each with the
 * addresses of the others.
 */
export function productParts(
  config: StackConfig,
  secrets: Secrets,
  databaseUrls: Record<string, string>,
): { services: StackPart[]; workers: StackPart[]; doors: StackPart[] } {
  const { folder, ports } = config;
  // Read at each start, so that keys are replaced by starting one process after the other.
  const own =
    (name: ServiceName, more: Variables = {}) =>
    () => ({
      ...serviceVariables(name, config, secrets, databaseUrls),
      ...more,
    });
  const services = serviceNames.flatMap((name) =>
    ports.services[name].map((port, replica) =>
      nodePart(
        replicaName(name, replica),
        [...program, name],
        folder,
        own(name, {
          [`${name.toUpperCase()}_PORT`]: String(port),
          ...metricsOf(config, replicaName(name, replica)),
        }),
      ),
    ),
  );
  const gatewayPorts = [{ http: ports.gateway, grpc: ports.grpc }, ...ports.moreGateways];
  const workers = servicesWithWorkflows.flatMap((name) =>
    gatewayPorts.map((_, replica) => {
      const process = replicaName(`${name}-worker`, replica);
      const args = [...program, `${name}-worker`];
      return nodePart(process, args, folder, own(name, metricsOf(config, process)));
    }),
  );
  const gateways = gatewayPorts.map(({ http, grpc }, replica) => {
    const process = replicaName('gateway', replica);
    return nodePart(process, [...program, 'gateway'], folder, () => ({
      ...sharedVariables(config),
      ...ownVariables('gateway', config, secrets),
      ...metricsOf(config, process),
      GATEWAY_PORT: String(http),
      GATEWAY_GRPC_PORT: String(grpc),
    }));
  });
  const inbound = nodePart('inbound', [...program, 'inbound'], folder, () => ({
    ...sharedVariables(config),
    ...ownVariables('gateway', config, secrets),
    BOUNCE_SMTP_PORT: String(ports.inbound),
  }));
  const relay = nodePart('relay', [...program, 'relay'], folder, () => ({
    ...sharedVariables(config),
    ...ownVariables('gateway', config, secrets),
    RELAY_SMTP_PORT: String(ports.relay),
    RELAY_HOSTNAME: 'localhost',
    // Nobody else reads what this machine says to itself.
    RELAY_ALLOW_PLAINTEXT: 'true',
  }));
  const doors = [...gateways, relay];
  return { services, workers, doors: takesReturns(config) ? [...doors, inbound] : doors };
}

/** On a machine of one's own every integration may be seen by itself. */
function metricsOf({ ports }: StackConfig, name: string): Variables {
  return { METRICS_PORT: String(ports.metrics[name]), METRICS_INTEGRATIONS: '20' };
}

/** The gateway as this machine reaches it, whatever its public address. */
export function gatewayUrl({ ports }: StackConfig): string {
  return `http://127.0.0.1:${ports.gateway}`;
}

export function temporalAddress({ own, ports }: StackConfig): string {
  return own.temporalAddress ?? `127.0.0.1:${ports.temporal}`;
}

export function smtpUrl({ own, ports }: StackConfig): string {
  return own.smtpUrl ?? `smtp://127.0.0.1:${ports.smtp}`;
}

/** The environment of a service's processes, without their ports. */
export function serviceVariables(
  name: ServiceName,
  config: StackConfig,
  secrets: Pick<Secrets, 'secretKey'>,
  databaseUrls: Record<string, string>,
): Variables {
  return {
    ...sharedVariables(config),
    ...ownVariables(name, config, secrets),
    ...databaseOf(name, databaseUrls),
  };
}

/** Secrets that no other process has. */
function ownVariables(
  name: string,
  config: StackConfig,
  secrets: Pick<Secrets, 'secretKey'>,
): Variables {
  return {
    SERVICE_KEYS: serviceKeysOf(readKeys(keysFile(config.folder)), name),
    ...(name === 'workspaces' ? { SECRET_KEY: secrets.secretKey } : {}),
    ...(name === 'messages' ? { SYSTEM_SMTP_URL: smtpUrl(config) } : {}),
  };
}

const bounceDomain = 'bounces.example';

/** A mail server of the internet would refuse a sender of a domain that is not there. */
const takesReturns = ({ own }: StackConfig): boolean => own.smtpUrl === undefined;

function sharedVariables(config: StackConfig): Variables {
  const addresses = serviceNames.map((name) => [
    `${name.toUpperCase()}_ADDR`,
    config.ports.services[name].map((port) => `127.0.0.1:${port}`).join(','),
  ]);
  return {
    ...Object.fromEntries(addresses),
    ...(config.own.webhooksAddress ? { WEBHOOKS_ADDR: config.own.webhooksAddress } : {}),
    ...(takesReturns(config) ? { BOUNCE_DOMAIN: bounceDomain } : {}),
    ROOT_EMAIL: config.rootEmail,
    // Starts and demos sign in, and each may be repeated.
    ROOT_SIGN_INS_MAX: '60',
    PUBLIC_URL: config.publicUrl,
    TEMPORAL_ADDRESS: temporalAddress(config),
    TEMPORAL_NAMESPACE: temporalNamespace,
    // The inbox is on this machine; tenants of a real installation may not call such addresses.
    EGRESS_ALLOW: '127.0.0.0/8',
    MESSAGES_JOURNAL: config.journalFolder,
    MIGRATE_ON_START: 'true',
    // Nothing balances load here.
    SHUTDOWN_DELAY_SECONDS: '0',
    LOG_LEVEL: config.logLevel,
    DEMO_MODE: String(config.demoMode),
    CACHE_FOLDER: join(config.folder, 'cache'),
    // A third of the time that a process takes to start goes into compiling its sources.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(config.folder, 'compiled'),
  };
}

function databaseOf(name: ServiceName, urls: Record<string, string>): Variables {
  return { [`${name.toUpperCase()}_DATABASE_URL`]: urls[name] ?? '' };
}

/** Runs a file with the same Node, without the secrets of the user's environment. */
function nodePart(
  name: string,
  args: string[],
  folder: string,
  variables: () => Variables,
): StackPart {
  return {
    name,
    start: (options) => {
      const env = environmentWith(variables());
      return startChild({ command: process.execPath, args, env, cwd: folder }, options);
    },
  };
}

export function environmentWith(variables: Variables): NodeJS.ProcessEnv {
  const { SMTP_URL, SECRET_KEY, SERVICE_KEYS, MESSAGES_REPLICAS, REPLICAS, ...inherited } =
    process.env;
  for (const name of Object.keys(inherited)) {
    if (name.endsWith('DATABASE_URL')) delete inherited[name];
  }
  return { ...inherited, HOST: '127.0.0.1', ...variables };
}
