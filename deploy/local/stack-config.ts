import { join, resolve } from 'node:path';
import { databaseVariable, readEnv } from '#lib/config.ts';
import type { Env, Variables } from '#lib/env.ts';
import { type ServiceName, serviceNames } from '../postrider/parts.ts';
import { isFree } from './ports.ts';

/** The configuration of a stack, read once from the environment. */
export type StackConfig = {
  /** Folder of the sources. */
  root: string;
  /** Folder of data, logs and secrets. */
  folder: string;
  /** Folder of the journal of messages; empty for no journal. */
  journalFolder: string;
  ports: Ports;
  /** The address of the API as browsers and mails see it. */
  publicUrl: string;
  rootEmail: string;
  secretKey: string | undefined;
  demoMode: boolean;
  logLevel: string;
  /** Where processes send traces; they have it from the same environment. */
  tracesEndpoint: string | undefined;
  /** The user's own servers in place of local ones. */
  own: {
    databaseUrl?: string;
    /** By service, prepared by `postrider migrate --provision`. */
    databaseUrls?: Record<string, string>;
    temporalAddress?: string;
    temporalUi?: string;
    smtpUrl?: string;
    /** A consumer of all events in place of the webhooks service. */
    webhooksAddress?: string;
  };
};

export type Ports = {
  gateway: number;
  temporalUi: number;
  inbox: number;
  smtp: number;
  temporal: number;
  postgres: number;
  grpc: number;
  services: Record<ServiceName, number[]>;
  /** HTTP and gRPC of gateways beside the first. */
  moreGateways: { http: number; grpc: number }[];
  /** Of `/metrics`, by the name of the process. */
  metrics: Record<string, number>;
};

const defaultPort = 4400;
const replicasMax = 8;
/** The first ten ports are for parts with one process; services follow, replicas ten apart. */
const firstServicePort = 10;
const replicaStep = 10;
/** The ports of `/metrics` follow those of all processes. */
const firstMetricsPort = 100;

/** Services with workflows, whose workers are processes of their own. */
export const servicesWithWorkflows = ['broadcasts', 'contacts', 'webhooks'] as const;

export function readStackConfig(env: Env, root: string): StackConfig {
  return readEnv(env, (variables) => stackConfigOf(variables, root));
}

function stackConfigOf(variables: Variables, root: string): StackConfig {
  const optional = (name: string) => variables.text(name, '') || undefined;
  const base = variables.integer('POSTRIDER_PORT', defaultPort, { from: 1_024, to: 65_000 });
  const replicas = variables.integer('MESSAGES_REPLICAS', 1, { from: 1, to: replicasMax });
  const all = variables.integer('REPLICAS', 1, { from: 1, to: 2 });
  const folder = resolve(root, variables.text('POSTRIDER_DATA', '.postrider'));
  const journal = variables.text('MESSAGES_JOURNAL', join(folder, 'journal'));
  return {
    root,
    folder,
    journalFolder: journal === 'off' ? '' : journal,
    ports: portsFrom(base, { all, messages: Math.max(all, replicas) }),
    publicUrl: readPublicUrl(variables, base),
    rootEmail: variables.list('ROOT_EMAIL').join(',') || 'root@example.com',
    secretKey: optional('SECRET_KEY'),
    demoMode: variables.flag('DEMO_MODE'),
    logLevel: variables.text('LOG_LEVEL', 'info'),
    tracesEndpoint: optional('OTEL_EXPORTER_OTLP_ENDPOINT'),
    own: {
      databaseUrl: optional('DATABASE_URL') && variables.databaseUrl('DATABASE_URL'),
      databaseUrls: readDatabaseUrls(variables),
      temporalAddress: optional('TEMPORAL_ADDRESS'),
      temporalUi: optional('TEMPORAL_UI'),
      smtpUrl: optional('SMTP_URL'),
      webhooksAddress: optional('WEBHOOKS_ADDR'),
    },
  };
}

/** One for each service, or none. */
function readDatabaseUrls(variables: Variables): Record<string, string> | undefined {
  if (serviceNames.every((name) => variables.text(databaseVariable(name), '') === '')) return;
  return Object.fromEntries(serviceNames.map((name) => [name, variables.databaseUrl(name)]));
}

/** Links in mails begin with it. */
function readPublicUrl(variables: Variables, base: number): string {
  const given = variables.text('PUBLIC_URL', `http://127.0.0.1:${base}`);
  variables.derived(() => {
    if (!/^https?:/i.test(given) || !URL.canParse(given)) {
      throw new Error('PUBLIC_URL must be like https://mail.example.com');
    }
  });
  return given.replace(/\/+$/, '');
}

type Replicas = { all: number; messages: number };

function portsFrom(base: number, replicas: Replicas): Ports {
  const first = base + firstServicePort;
  const ofService = (name: ServiceName, at: number) =>
    Array.from(
      { length: name === 'messages' ? replicas.messages : replicas.all },
      (_, replica) => first + at + replica * replicaStep,
    );
  const services = Object.fromEntries(
    serviceNames.map((name, at) => [name, ofService(name, at)]),
  ) as Ports['services'];
  return {
    metrics: metricsPorts(base, services, replicas.all),
    gateway: base,
    temporalUi: base + 1,
    inbox: base + 2,
    smtp: base + 3,
    temporal: base + 4,
    postgres: base + 5,
    grpc: base + 6,
    moreGateways: replicas.all > 1 ? [{ http: base + 7, grpc: base + 8 }] : [],
    services,
  };
}

function metricsPorts(
  base: number,
  services: Ports['services'],
  replicas: number,
): Ports['metrics'] {
  const others = ['gateway', ...servicesWithWorkflows.map((name) => `${name}-worker`)];
  const ofOthers = Array.from({ length: replicas }, (_, replica) =>
    others.map((name, at) => [
      replicaName(name, replica),
      base + firstMetricsPort + at + replica * others.length,
    ]),
  );
  const ofServices = serviceNames.flatMap((name) =>
    services[name].map((port, replica) => [replicaName(name, replica), port + firstMetricsPort]),
  );
  return Object.fromEntries([...ofOthers.flat(), ...ofServices]);
}

/** The name of a process. */
export function replicaName(name: string, replica: number): string {
  return replica === 0 ? name : `${name}-${replica + 1}`;
}

/** Fails on the first port in use, before anything is started. */
export async function checkPorts({ ports, own }: StackConfig): Promise<void> {
  const wanted: [port: number, by: string][] = [
    [ports.gateway, 'the gateway'],
    [ports.grpc, 'the gateway (gRPC)'],
    [ports.inbox, 'the inbox page'],
    [ports.smtp, 'the inbox (SMTP)'],
  ];
  if (!own.temporalAddress) {
    wanted.push([ports.temporal, 'Temporal'], [ports.temporalUi, 'the Temporal UI']);
  }
  for (const { http, grpc } of ports.moreGateways) {
    wanted.push([http, 'another gateway'], [grpc, 'another gateway (gRPC)']);
  }
  if (!own.databaseUrl && !own.databaseUrls) wanted.push([ports.postgres, 'PostgreSQL']);
  for (const name of serviceNames) {
    for (const port of ports.services[name]) wanted.push([port, `the service ${name}`]);
  }
  for (const [name, port] of Object.entries(ports.metrics)) {
    wanted.push([port, `/metrics of ${name}`]);
  }
  for (const [port, by] of wanted) {
    if (await isFree(port)) continue;
    const now = `POSTRIDER_PORT moves all ports (now ${ports.gateway})`;
    throw new Error(`port ${port} is in use, and ${by} wants it. ${now}.`);
  }
}
