import { join, resolve } from 'node:path';
import { type Env, readEnv, type Variables } from '#lib/config.ts';
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
  const bounds = { from: 1, to: replicasMax };
  const replicas = variables.integer('REPLICAS', 1, bounds);
  const ofMessages = variables.integer('MESSAGES_REPLICAS', replicas, bounds);
  const folder = resolve(root, variables.text('POSTRIDER_DATA', '.postrider'));
  const journal = variables.text('MESSAGES_JOURNAL', join(folder, 'journal'));
  return {
    root,
    folder,
    journalFolder: journal === 'off' ? '' : journal,
    ports: portsFrom(base, { replicas, ofMessages }),
    publicUrl: readPublicUrl(variables, base),
    rootEmail: variables.list('ROOT_EMAIL').join(',') || 'root@example.com',
    secretKey: optional('SECRET_KEY'),
    demoMode: variables.flag('DEMO_MODE'),
    logLevel: variables.text('LOG_LEVEL', 'info'),
    tracesEndpoint: optional('OTEL_EXPORTER_OTLP_ENDPOINT'),
    own: {
      databaseUrl: optional('DATABASE_URL') && variables.databaseUrl('DATABASE_URL'),
      temporalAddress: optional('TEMPORAL_ADDRESS'),
      temporalUi: optional('TEMPORAL_UI'),
      smtpUrl: optional('SMTP_URL'),
      webhooksAddress: optional('WEBHOOKS_ADDR'),
    },
  };
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

type Replicas = { replicas: number; ofMessages: number };

function portsFrom(base: number, { replicas, ofMessages }: Replicas): Ports {
  const ofService = serviceNames.map((name, at) => {
    const count = name === 'messages' ? ofMessages : replicas;
    const first = base + firstServicePort + at;
    return [name, Array.from({ length: count }, (_, replica) => first + replica * replicaStep)];
  });
  const services: Ports['services'] = Object.fromEntries(ofService);
  return {
    metrics: { ...metricsPorts(base, services), ...workerMetricsPorts(base, replicas) },
    gateway: base,
    temporalUi: base + 1,
    inbox: base + 2,
    smtp: base + 3,
    temporal: base + 4,
    postgres: base + 5,
    grpc: base + 6,
    services,
  };
}

function metricsPorts(base: number, services: Ports['services']): Ports['metrics'] {
  const ofServices = serviceNames.flatMap((name) =>
    services[name].map((port, replica) => [replicaName(name, replica), port + firstMetricsPort]),
  );
  return Object.fromEntries([['gateway', base + firstMetricsPort], ...ofServices]);
}

/** Those of further workers are beside the services' replicas. */
function workerMetricsPorts(base: number, replicas: number): Ports['metrics'] {
  const ports: Ports['metrics'] = {};
  for (let replica = 0; replica < replicas; replica += 1) {
    const first = replica === 0 ? 1 : 6 + replica * replicaStep;
    for (const [at, name] of servicesWithWorkflows.entries()) {
      ports[replicaName(`${name}-worker`, replica)] = base + firstMetricsPort + first + at;
    }
  }
  return ports;
}

/** The name of a process of a service or worker. */
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
  if (!own.databaseUrl) wanted.push([ports.postgres, 'PostgreSQL']);
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
