import { keysFile, readKeys, serviceKeysOf } from '../../deploy/keys/file.ts';
import { serviceVariables } from '../../deploy/local/parts.ts';
import { isFree } from '../../deploy/local/ports.ts';
import type { Secrets } from '../../deploy/local/secrets.ts';
import type { StackConfig } from '../../deploy/local/stack-config.ts';
import { servicesWithWorkflows } from '../../deploy/local/stack-ports.ts';
import { serviceNames } from '../../deploy/postrider/parts.ts';
import type { MemberPlan } from './member.ts';

type Variables = Record<string, string>;

export type Plan = {
  members: MemberPlan[];
  gatewayUrls: string[];
  /** The variables of `migrate`. */
  databases: Variables;
};

/** Ports that stay free for a process that is started again: below those that clients get. */
const [lowest, highest] = [12_000, 32_000];
const triesMax = 100;

export async function freePorts(count: number): Promise<number[]> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const first = lowest + Math.floor(Math.random() * (highest - lowest));
    const ports = Array.from({ length: count }, (_, at) => first + at);
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return ports;
  }
  throw new Error('no free ports were found');
}

type PlanOptions = {
  config: StackConfig;
  secrets: Secrets;
  databaseUrls: Variables;
  /** Variables of every process. */
  environment: Variables;
  replicas: number;
  /** Every process is `postrider all`. */
  together: boolean;
};

/** Several of every process, each with the addresses of all others. */
export async function planOf(options: PlanOptions): Promise<Plan> {
  const { config, secrets, databaseUrls, replicas, together } = options;
  const ports = await freePorts(replicas * (serviceNames.length + 1 + wordsMax));
  const take = () => ports.pop() ?? 0;
  const listening = [...serviceNames, 'gateway'] as const;
  const portsOf = new Map(
    listening.map((name) => [name as string, Array.from({ length: replicas }, take)]),
  );
  const gatewayUrls = portsOf.get('gateway')?.map((port) => `http://127.0.0.1:${port}`) ?? [];
  const addresses = serviceNames.map((name) => [
    `${name.toUpperCase()}_ADDR`,
    portsOf
      .get(name)
      ?.map((port) => `127.0.0.1:${port}`)
      .join(',') ?? '',
  ]);
  const databases = Object.fromEntries(
    serviceNames.map((name) => [`${name.toUpperCase()}_DATABASE_URL`, databaseUrls[name] ?? '']),
  );
  const [shared, keys] = [sharedOf(options), readKeys(keysFile(config.folder))];
  const envOf = (words: readonly string[], at: number, healthPort: number): Variables => ({
    ...shared,
    // Links in mails begin with it.
    PUBLIC_URL: gatewayUrls[0] ?? '',
    ...Object.fromEntries(addresses),
    ...(words.includes('workspaces') ? { SECRET_KEY: secrets.secretKey } : {}),
    ...(words.includes('messages') ? { SYSTEM_SMTP_URL: config.own.smtpUrl ?? '' } : {}),
    ...(words.includes('gateway') && words.length === 1 ? {} : databases),
    ...Object.fromEntries(
      words.flatMap((word) => {
        const port = portsOf.get(word)?.[at];
        return port ? [[`${word.toUpperCase()}_PORT`, String(port)]] : [];
      }),
    ),
    SERVICE_KEYS: words
      .filter((word) => portsOf.has(word))
      .map((word) => serviceKeysOf(keys, word))
      .join('\n'),
    HEALTH_PORT: String(healthPort),
  });
  const everything = [...serviceNames, ...servicesWithWorkflows.map(workerOf), 'gateway'];
  const groups = together ? [['all', everything] as const] : everything.map(alone);
  const members = groups.flatMap(([word, words]) =>
    Array.from({ length: replicas }, (_, at): MemberPlan => {
      const healthPort = take();
      return { name: `${word}-${at + 1}`, word, env: envOf(words, at, healthPort), healthPort };
    }),
  );
  return { members, gatewayUrls, databases };
}

const wordsMax = serviceNames.length + servicesWithWorkflows.length + 1;
const workerOf = (service: string) => `${service}-worker`;

/** A worker has the keys of its service. */
function alone(word: string): readonly [string, string[]] {
  return word.endsWith('-worker') ? [word, [word, word.replace(/-worker$/, '')]] : [word, [word]];
}

function sharedOf({ config, secrets, databaseUrls, environment }: PlanOptions): Variables {
  const { SERVICE_KEYS, SECRET_KEY, WORKSPACES_DATABASE_URL, ...shared } = serviceVariables(
    'workspaces',
    config,
    secrets,
    databaseUrls,
  );
  return {
    ...shared,
    HOST: '127.0.0.1',
    MIGRATE_ON_START: 'false',
    SHUTDOWN_DELAY_SECONDS: '1',
    ...environment,
  };
}
