import { resolve } from 'node:path';
import { type Env, integer, list } from '#lib/config.ts';
import { isFree } from './ports.ts';

export const serviceNames = [
  'workspaces',
  'contacts',
  'templates',
  'broadcasts',
  'messages',
] as const;
export type ServiceName = (typeof serviceNames)[number];

/** The configuration of a stack, read once from the environment. */
export type StackConfig = {
  /** Folder of the sources. */
  root: string;
  /** Folder of data, logs and secrets. */
  folder: string;
  ports: Ports;
  rootEmail: string;
  secretKey: string | undefined;
  demoMode: boolean;
  logLevel: string;
  /** The user's own servers in place of local ones. */
  own: { databaseUrl?: string; temporalAddress?: string; temporalUi?: string; smtpUrl?: string };
};

export type Ports = {
  gateway: number;
  temporalUi: number;
  inbox: number;
  smtp: number;
  temporal: number;
  postgres: number;
  services: Record<ServiceName, number[]>;
};

const defaultPort = 4400;
const replicasMax = 8;
/** The first ten ports are for parts with one process; services follow, replicas ten apart. */
const firstServicePort = 10;
const replicaStep = 10;

export function readStackConfig(env: Env, root: string): StackConfig {
  const base = integer(env, 'POSTRIDER_PORT', defaultPort);
  if (base < 1024 || base > 65_000) throw new Error('POSTRIDER_PORT must be from 1024 to 65000');
  const replicas = integer(env, 'MESSAGES_REPLICAS', 1);
  if (replicas < 1 || replicas > replicasMax) {
    throw new Error(`MESSAGES_REPLICAS must be from 1 to ${replicasMax}`);
  }
  return {
    root,
    folder: resolve(root, env.POSTRIDER_DATA || '.postrider'),
    ports: portsFrom(base, replicas),
    rootEmail: list(env, 'ROOT_EMAIL').join(',') || 'root@example.com',
    secretKey: env.SECRET_KEY || undefined,
    demoMode: env.DEMO_MODE === 'true',
    logLevel: env.LOG_LEVEL || 'info',
    own: {
      databaseUrl: env.DATABASE_URL || undefined,
      temporalAddress: env.TEMPORAL_ADDRESS || undefined,
      temporalUi: env.TEMPORAL_UI || undefined,
      smtpUrl: env.SMTP_URL || undefined,
    },
  };
}

function portsFrom(base: number, messagesReplicas: number): Ports {
  const first = base + firstServicePort;
  const replicas = Array.from({ length: messagesReplicas }, (_, at) => at * replicaStep);
  return {
    gateway: base,
    temporalUi: base + 1,
    inbox: base + 2,
    smtp: base + 3,
    temporal: base + 4,
    postgres: base + 5,
    services: {
      workspaces: [first],
      contacts: [first + 1],
      templates: [first + 2],
      broadcasts: [first + 3],
      messages: replicas.map((step) => first + 4 + step),
    },
  };
}

/** Fails on the first port in use, before anything is started. */
export async function checkPorts({ ports, own }: StackConfig): Promise<void> {
  const wanted: [port: number, by: string][] = [
    [ports.gateway, 'the gateway'],
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
  for (const [port, by] of wanted) {
    if (await isFree(port)) continue;
    const now = `POSTRIDER_PORT moves all ports (now ${ports.gateway})`;
    throw new Error(`port ${port} is in use, and ${by} wants it. ${now}.`);
  }
}
