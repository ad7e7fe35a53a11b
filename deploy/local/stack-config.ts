import { homedir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { readEnv } from '#lib/config.ts';
import type { Env, Variables } from '#lib/env.ts';
import { connectionStringIn, databaseVariable, readDatabaseUrl } from '#lib/postgres/config.ts';
import { readDemoMode, readLogLevel } from '#lib/process/config.ts';
import { readTracesEndpoint } from '#lib/telemetry/config.ts';
import { serviceNames } from '../postrider/parts.ts';
import { isFree } from './ports.ts';
import { type Ports, portsFrom, type ReplicaCounts } from './stack-ports.ts';

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
  /** Whether the guide is built beside the stack if it is missing or older than its sources. */
  buildsGuide: boolean;
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

const defaultPort = 4400;
const replicasMax = 8;
export function readStackConfig(env: Env, root: string): StackConfig {
  return readEnv(env, (variables) => readStack(variables, root));
}

/** The README of this folder has their table. */
export function readStack(variables: Variables, root: string): StackConfig {
  const folder = resolve(root, readDataFolder(variables));
  const base = variables.integer('POSTRIDER_PORT', {
    fallback: defaultPort,
    from: 1_024,
    to: 65_000,
    about: 'The port of the gateway; the others follow (below).',
  });
  return {
    root,
    folder,
    ports: portsFrom(base, readReplicas(variables)),
    journalFolder: readJournal(variables, folder),
    publicUrl: readPublicUrl(variables, base),
    rootEmail: readRootEmail(variables),
    secretKey:
      variables.text('SECRET_KEY', {
        fallback: '',
        unset: 'made on the first start',
        about: 'Signs in roots; only workspaces gets it. At least 32 characters.',
      }) || undefined,
    demoMode: readDemoMode(variables),
    buildsGuide: variables.flag('BUILD_GUIDE', {
      fallback: true,
      about:
        'Whether `/guide/` is built in the background after the start, if it is missing or older than its sources.',
    }),
    logLevel: readLogLevel(variables),
    tracesEndpoint: readTracesEndpoint(variables),
    own: readOwn(variables),
  };
}

export function readDataFolder(variables: Variables): string {
  return variables.text('POSTRIDER_DATA', {
    fallback: '.postrider',
    about: 'Where data, logs and secrets are kept.',
  });
}

/** Where programs that were fetched or built are kept, for all folders of data. */
export function readCacheFolder(variables: Variables): string {
  const home = homedir() || userInfo().homedir;
  return variables.text('POSTRIDER_CACHE', {
    fallback: join(home, '.cache', 'postrider'),
    unset: '`~/.cache/postrider`',
    about: 'Where programs that are fetched are kept, such as those of Temporal.',
  });
}

function readReplicas(variables: Variables): ReplicaCounts {
  const messages = variables.integer('MESSAGES_REPLICAS', {
    fallback: 1,
    from: 1,
    to: replicasMax,
    about: 'Processes of the messages service.',
  });
  const all = variables.integer('REPLICAS', {
    fallback: 1,
    from: 1,
    to: 2,
    about: 'Processes of every kind.',
  });
  return { all, messages: Math.max(all, messages) };
}

function readJournal(variables: Variables, folder: string): string {
  const given = variables.text('MESSAGES_JOURNAL', {
    fallback: join(folder, 'journal'),
    unset: 'in the data folder',
    about: 'Where messages notes what it has begun and sent; `off` for no journal.',
  });
  return given === 'off' ? '' : given;
}

function readRootEmail(variables: Variables): string {
  const given = variables.list('ROOT_EMAIL', {
    unset: '`root@example.com`',
    about: 'Who may use `user.rootSignin`; several, separated by commas.',
  });
  return given.join(',') || 'root@example.com';
}

/** Links in mails begin with it. */
function readPublicUrl(variables: Variables, base: number): string {
  const given = variables.text('PUBLIC_URL', {
    fallback: `http://127.0.0.1:${base}`,
    unset: 'the gateway\u2019s',
    about: 'The API\u2019s address in links of mails, where it is reached by another name.',
  });
  variables.derived(() => {
    if (!/^https?:/i.test(given) || !URL.canParse(given)) {
      throw new Error('PUBLIC_URL must be like https://mail.example.com');
    }
  });
  return given.replace(/\/+$/, '');
}

function readOwn(variables: Variables): StackConfig['own'] {
  const optional = (name: string, unset: string, about: string) =>
    variables.text(name, { fallback: '', unset, about }) || undefined;
  return {
    databaseUrl: readServerUrl(variables),
    databaseUrls: readDatabaseUrls(variables),
    temporalAddress: optional('TEMPORAL_ADDRESS', 'ours', 'Your own Temporal, `host:port`.'),
    temporalUi: optional('TEMPORAL_UI', 'ours', 'The address of its UI.'),
    smtpUrl: optional(
      'SMTP_URL',
      'the inbox',
      'Where the workspace `demo` sends, such as `smtps://user:secret@host:465`.',
    ),
    webhooksAddress: optional(
      'WEBHOOKS_ADDR',
      'ours',
      'A consumer of all events in place of the webhooks service, `host:port`.',
    ),
  };
}

function readServerUrl(variables: Variables): string | undefined {
  const name = 'DATABASE_URL';
  const given = variables.text(name, {
    fallback: '',
    unset: 'ours',
    about:
      'The URL of a superuser of your own PostgreSQL; without a database in it, `postrider` is made.',
  });
  return given === '' ? undefined : variables.derived(() => connectionStringIn(name, given));
}

/** One for each service, or none. */
function readDatabaseUrls(variables: Variables): Record<string, string> | undefined {
  const given = serviceNames.map((name) =>
    variables.text(databaseVariable(name), {
      fallback: '',
      about: 'In its place: a URL for each service, made by `postrider migrate --provision`.',
    }),
  );
  if (given.every((url) => url === '')) return undefined;
  return Object.fromEntries(serviceNames.map((name) => [name, readDatabaseUrl(variables, name)]));
}

/** Fails on the first port in use, before anything is started. */
export async function checkPorts({ ports, own }: StackConfig): Promise<void> {
  const wanted: [port: number, by: string][] = [
    [ports.gateway, 'the gateway'],
    [ports.grpc, 'the gateway (gRPC)'],
    [ports.inbox, 'the inbox page'],
    [ports.smtp, 'the inbox (SMTP)'],
    [ports.inbound, 'mail that comes back'],
    [ports.relay, 'the relay (SMTP)'],
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
