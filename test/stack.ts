import { spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client } from 'pg';
import { declaredEvents } from '#lib/events/contracts.ts';
import { checkEvents, keepEvents } from './setup/published-events.ts';
import { type Call, createCall } from './stack/client.ts';
import { portsOf } from './stack/ports.ts';
import { type Processes, processesOf } from './stack/processes.ts';
import { createSinkClient, type Mail, readMails, type SinkClient } from './stack/sink-client.ts';
import { until } from './stack/until.ts';

const root = resolve(import.meta.dirname, '..');
/** With traces it bundles the workflows anew, on a busy machine. */
const startMsMax = 240_000;

/** A running stack whose mail goes to a sink. */
export type TestStack = {
  folder: string;
  settings: Record<string, string>;
  workspaceId: string;
  /** Whether messages keeps a journal. */
  hasJournal: boolean;
  call: Call;
  processes: Processes;
  sink: SinkClient;
  /** Every mail that the sink has accepted. */
  mails(): Mail[];
  /** As the superuser, to the database of the services. */
  databaseUrl: string;
  /** Resolves when every service answers through the gateway. */
  untilServing(): Promise<void>;
  /** Ends every process and removes the folder. */
  stop(): Promise<void>;
};

export type StackOptions = {
  replicas?: number;
  /** The stack ends with this process. */
  parentPid?: number;
  folder?: string;
  /** By process: how far its clock is ahead of the others. */
  clocksAheadMs?: Record<string, number>;
  /** Messages keeps no journal. */
  withoutJournal?: boolean;
  /** Variables of every process. */
  environment?: Record<string, string>;
  /** A Temporal server in place of the stack's own. */
  temporalAddress?: string;
};

/** Stacks that the files of a run share: each takes 2 GB of memory. */
export const stacksMax = process.env.TESTS === 'faults' ? 2 : 1;

/** Where a shared stack is, from the first. */
export function stackFolder(number: number): string {
  return `${process.env.TEST_STACK_FOLDER}-${number}`;
}

export async function startStack(options: StackOptions = {}): Promise<TestStack> {
  const { replicas = 2, parentPid = process.pid } = options;
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'postrider-stack-'));
  // As root, PostgreSQL runs as another account, which needs access to the folder.
  chmodSync(folder, 0o711);
  const cache = join(root, '.postrider/cache');
  if (existsSync(cache)) cpSync(cache, join(folder, 'cache'), { recursive: true });
  const args = ['--folder', folder, '--port', String(await portsOf(replicas))];
  args.push('--replicas', String(replicas), '--parent', String(parentPid));
  if (options.temporalAddress) args.push('--temporal', options.temporalAddress);
  const log = openSync(join(folder, 'run.log'), 'a');
  const child = spawn(process.execPath, [join(root, 'test/stack/run.ts'), ...args], {
    detached: true,
    stdio: ['ignore', log, log],
    env: {
      ...process.env,
      ...options.environment,
      ...clockVariables(options.clocksAheadMs),
      ...(options.withoutJournal ? { MESSAGES_JOURNAL: 'off' } : {}),
    },
  });
  child.unref();
  let hasEnded = false;
  child.on('exit', () => {
    hasEnded = true;
  });
  await until(
    'the stack is up',
    async () => {
      if (hasEnded) throw new Error(takeLog(folder));
      return existsSync(join(folder, 'ready.json'));
    },
    { withinMs: startMsMax },
  );
  const stack = openStack(folder);
  if (isInJest) await keepPublished(stack);
  return stack;
}

/** Chaos, soaks and benchmarks publish too many to keep. */
const isInJest = process.env.JEST_WORKER_ID !== undefined;

async function keepPublished({ databaseUrl }: TestStack): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await keepEvents(client, [...new Set(declaredEvents.map(({ producer }) => producer))]);
  await client.end();
}

function clockVariables(clocksAheadMs: StackOptions['clocksAheadMs']): Record<string, string> {
  if (!clocksAheadMs) return {};
  const clock = pathToFileURL(join(root, 'test/stack/skewed-clock.mjs')).href;
  return { NODE_OPTIONS: `--import ${clock}`, CLOCKS_AHEAD_MS: JSON.stringify(clocksAheadMs) };
}

/** Why a stack did not start, read before its folder is removed. */
function takeLog(folder: string): string {
  const text = readFileSync(join(folder, 'run.log'), 'utf8');
  rmSync(folder, { recursive: true, force: true });
  return text;
}

/** Connects to a running stack. */
export function openStack(folder: string): TestStack {
  const settings = readSettings(folder);
  const ready = JSON.parse(readFileSync(join(folder, 'ready.json'), 'utf8'));
  const workspaceId = settings.WORKSPACE_ID ?? '';
  const call = createCall(settings.BASE_URL ?? '', settings.TOKEN ?? '');
  const databaseUrl = databaseUrlOf(folder, settings);
  return {
    folder,
    settings,
    workspaceId,
    hasJournal: existsSync(join(folder, 'journal')),
    call,
    processes: processesOf(folder),
    sink: createSinkClient(ready.control),
    mails: () => readMails(readFileSync(join(folder, 'mails'), 'utf8')),
    databaseUrl,
    untilServing: () => untilServing(call, workspaceId),
    async stop() {
      try {
        if (isInJest) await checkEvents(databaseUrl);
      } finally {
        await stopStack(folder, ready.pid);
      }
    },
  };
}

export async function stopStack(folder: string, pid: number): Promise<void> {
  process.kill(pid, 'SIGCONT');
  process.kill(pid, 'SIGTERM');
  await until('the stack is stopped', async () => !existsSync(`/proc/${pid}`));
  rmSync(folder, { recursive: true, force: true });
}

function readSettings(folder: string): Record<string, string> {
  const lines = readFileSync(join(folder, 'env'), 'utf8').trim().split('\n');
  return Object.fromEntries(
    lines.map((line) => [line.split('=', 1)[0], line.slice(line.indexOf('=') + 1)]),
  );
}

function databaseUrlOf(folder: string, settings: Record<string, string>): string {
  const secrets = JSON.parse(readFileSync(join(folder, 'secrets.json'), 'utf8'));
  const port = Number(new URL(settings.BASE_URL ?? '').port) + 5;
  return `postgresql://postrider:${secrets.postgresPassword}@127.0.0.1:${port}/postrider`;
}

/** One reading operation of each service. */
const probes: [operation: string, query: Record<string, string>][] = [
  ['workspaces.list', {}],
  ['contacts.count', {}],
  ['templates.list', {}],
  ['broadcasts.list', {}],
  ['messages.list', { limit: '1' }],
];

async function untilServing(call: Call, workspaceId: string): Promise<void> {
  for (const [operation, query] of probes) {
    await until(`${operation} is answered`, async () => {
      try {
        const answer = await call(operation, undefined, {
          query: { workspace_id: workspaceId, ...query },
        });
        return answer.status === 200;
      } catch {
        return false;
      }
    });
  }
}
