import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { prepareWorkspace, workspaceId } from '../../deploy/local/first-workspace.ts';
import { freePort } from '../../deploy/local/ports.ts';
import { startPostgres } from '../../deploy/local/postgres.ts';
import { loadSecrets } from '../../deploy/local/secrets.ts';
import { readStackConfig } from '../../deploy/local/stack-config.ts';
import { type Sink, startSink } from '../sink.ts';
import { startControl } from '../sink-control.ts';
import { processesOf } from '../stack/processes.ts';
import { createSinkClient, readMails } from '../stack/sink-client.ts';
import type { TestStack } from '../stack.ts';
import { patientCall } from './client.ts';
import { endWithThisProcess, noteProcess } from './leftovers.ts';
import { type Ending, type Member, type MemberPlan, startMember } from './member.ts';
import { type Plan, planOf } from './plan.ts';
import { runProgram } from './program.ts';
import { startFleetTemporal } from './temporal.ts';

export const here = resolve(import.meta.dirname, '../..');

/**
 * Several of every process on one PostgreSQL and one Temporal, with no supervisor: who ends stays
 * down until it is replaced.
 */
export type Fleet = TestStack & {
  members(): readonly Member[];
  gatewayUrls: readonly string[];
  /** Ends a process and starts it from the sources in `root`, with its settings and `changes`. */
  replace(member: Member, root?: string, changes?: Record<string, string>): Promise<Ending>;
  /** Runs `postrider migrate` of the sources in `root`. */
  migrate(root?: string): Promise<string>;
};

export type FleetOptions = {
  replicas?: number;
  /** Every process is `postrider all`. */
  together?: boolean;
  /** The sources of the processes. */
  root?: string;
  /** Variables of every process. */
  environment?: Record<string, string>;
};

export async function startFleet(options: FleetOptions = {}): Promise<Fleet> {
  const { replicas = 2, together = false, root = here, environment = {} } = options;
  const folder = mkdtempSync(join(tmpdir(), 'postrider-fleet-'));
  mkdirSync(join(folder, 'logs'));
  const cache = join(here, '.postrider/cache');
  if (existsSync(cache)) cpSync(cache, join(folder, 'cache'), { recursive: true });
  endWithThisProcess(folder);
  const closing: (() => Promise<unknown>)[] = [];
  try {
    const servers = await startServers(folder, closing);
    const { config, secrets, databaseUrls, sink } = servers;
    const plan = await planOf({
      config,
      secrets,
      databaseUrls,
      replicas,
      together,
      environment: { ...environment, TEMPORAL_ADDRESS: config.own.temporalAddress ?? '' },
    });
    await runProgram(root, ['migrate', '--provision'], {
      ...plan.databases,
      SUPERUSER_DATABASE_URL: servers.superuserUrl,
    });
    // Once, and not by every worker at the same time.
    await runProgram(root, ['bundle', join(folder, 'cache')], {});
    const crew = await startCrew(plan, root, folder);
    closing.unshift(crew.stop);
    const { secretKey } = secrets;
    const token = await prepareWorkspace({
      baseUrl: plan.gatewayUrls[0] ?? '',
      rootEmail: config.rootEmail,
      secretKey,
      smtpUrl: config.own.smtpUrl ?? '',
      apiKey: undefined,
    });
    const settings = {
      BASE_URL: plan.gatewayUrls[0] ?? '',
      ROOT_EMAIL: config.rootEmail,
      ROOT_SIGN_INS_MAX: '60',
      SECRET_KEY: secretKey,
      TOKEN: token,
      TEMPORAL_ADDRESS: config.own.temporalAddress ?? '',
      SMTP_URL: config.own.smtpUrl ?? '',
    };
    return {
      folder,
      settings,
      workspaceId,
      hasJournal: true,
      call: patientCall(plan.gatewayUrls, token).call,
      gatewayUrls: plan.gatewayUrls,
      processes: processesOf(folder),
      sink: createSinkClient(await startControl(sink, 0)),
      mails: () => readMails(servers.mails()),
      databaseUrl: servers.databaseUrl,
      untilServing: async () => {},
      members: crew.members,
      replace: crew.replace,
      migrate: (from = root) => runProgram(from, ['migrate'], plan.databases),
      stop: () => closeAll(closing, folder),
    };
  } catch (error) {
    await closeAll(closing, folder);
    throw error;
  }
}

async function startServers(folder: string, closing: (() => Promise<unknown>)[]) {
  const mails = join(folder, 'mails');
  const sink: Sink = await startSink({ file: mails, bodiesMax: 200 });
  closing.push(() => sink.close());
  const secrets = loadSecrets(folder, undefined);
  const [port, temporal] = await Promise.all([freePort(), startFleetTemporal(folder)]);
  closing.unshift(temporal.stop);
  const postgres = await startPostgres({
    folder: join(folder, 'postgres'),
    port,
    password: secrets.postgresPassword,
    settings: { max_connections: '600' },
  });
  closing.unshift(postgres.stop);
  for (const pid of [temporal.pid, postgres.pid]) noteProcess(folder, pid);
  const databaseUrl = postgres.url.replace(/postgres$/, 'postrider');
  const databaseUrls = Object.fromEntries(
    Object.entries(secrets.rolePasswords).map(([name, password]) => {
      const url = new URL(databaseUrl);
      [url.username, url.password] = [name, password];
      return [name, url.href];
    }),
  );
  const config = readStackConfig(
    {
      POSTRIDER_DATA: folder,
      SMTP_URL: `smtp://127.0.0.1:${sink.port}`,
      TEMPORAL_ADDRESS: temporal.address,
      LOG_LEVEL: 'info',
    },
    here,
  );
  return {
    sink,
    secrets,
    config,
    databaseUrl,
    databaseUrls,
    superuserUrl: postgres.url,
    mails: () => readFileSync(mails, 'utf8'),
  };
}

async function startCrew(plan: Plan, root: string, folder: string) {
  const crew = new Map<string, Member>();
  const spawned = (pid: number) => noteProcess(folder, pid);
  const start = async (each: MemberPlan, from: string) => {
    crew.set(each.name, await startMember(each, { root: from, folder, spawned }));
  };
  const stop = async () => {
    await Promise.all([...crew.values()].map((member) => member.end().catch(() => {})));
  };
  const started = await Promise.allSettled(plan.members.map((each) => start(each, root)));
  const failed = started.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') {
    await stop();
    throw failed.reason;
  }
  return {
    members: () => [...crew.values()],
    replace: async (member: Member, from = root, changes: Record<string, string> = {}) => {
      const ending = await member.end();
      await start({ ...member, env: { ...member.env, ...changes } }, from);
      return ending;
    },
    stop,
  };
}

async function closeAll(closing: readonly (() => Promise<unknown>)[], folder: string) {
  for (const close of closing) await close();
  rmSync(folder, { recursive: true, force: true });
}
