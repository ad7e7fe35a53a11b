import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../stack/until.ts';

/** Kept packages, so that a later run needs no network. */
const cache = join(homedir(), '.cache/postrider/postfix');
const startMaxMs = 120_000;

/** Why Postfix cannot run here; empty where it can. */
export function noPostfix(): string {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'it needs root on Linux';
  const found = spawnSync('sh', ['-c', 'command -v unshare apt-get chroot flock']);
  if (found.status !== 0) return 'it needs unshare, flock and apt-get, as on Debian';
  const script = 'mkdir u w m && mount -t overlay o -o lowerdir=/,upperdir=u,workdir=w m';
  const mounting = `mount -t tmpfs t /mnt && cd /mnt && ${script}`;
  const mounts = spawnSync('unshare', ['--mount', 'sh', '-c', mounting]);
  if (mounts.status !== 0) return 'it may not mount file systems';
  mkdirSync(join(cache, 'partial'), { recursive: true });
  const options = ['--yes', '--download-only', '--no-install-recommends'];
  const archives = ['-o', `Dir::Cache::archives=${cache}`];
  // Another one may be installing it.
  const fetched = spawnSync('flock', [
    `${cache}.lock`,
    'apt-get',
    'install',
    ...options,
    ...archives,
    'postfix',
    'libsasl2-modules',
  ]);
  return fetched.status === 0 ? '' : 'apt-get does not find the packages';
}

export type Postfix = { port: number; pid: number; log(): string; stop(): Promise<void> };

type PostfixOptions = {
  /** By loopback port. */
  passwords?: Readonly<Record<number, string>>;
  /** An empty folder on a disk for its queues, which are in memory otherwise. */
  spool?: string;
  /** Of `main.cf`. */
  settings?: Readonly<Record<string, string>>;
};

/** Starts it, with the domains that it delivers and the loopback port of each. */
export async function startPostfix(
  port: number,
  domains: Readonly<Record<string, number>>,
  { passwords = {}, spool = '', settings = {} }: PostfixOptions = {},
): Promise<Postfix> {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-postfix-'));
  const transports = Object.entries(domains)
    .map(([domain, to]) => `{ ${domain}=smtp:[127.0.0.1]:${to} }`)
    .join(', ');
  const signIns = Object.entries(passwords)
    .map(([to, password]) => `{ [127.0.0.1]:${to}=apikey:${password} }`)
    .join(', ');
  const child = spawn(
    'unshare',
    [
      ...['--mount', '--pid', '--fork', '--kill-child', 'sh'],
      ...[
        join(import.meta.dirname, 'run.sh'),
        folder,
        cache,
        `${port}`,
        transports,
        signIns,
        spool,
        ...Object.entries(settings).map(([name, value]) => `${name}=${value}`),
      ],
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      log = (log + text).slice(-100_000);
    });
  }
  const stop = async () => {
    child.kill('SIGKILL');
    await until('Postfix has ended', async () => hasEnded(child));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await until(
      'Postfix answers',
      async () => {
        if (hasEnded(child)) throw new Error(`Postfix has ended: ${log}`);
        return answers(port);
      },
      { withinMs: startMaxMs },
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, pid: child.pid ?? 0, log: () => log, stop };
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) =>
  exitCode !== null || signalCode !== null;

function answers(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(port, '127.0.0.1');
  socket.once('data', () => {
    socket.end('QUIT\r\n');
    resolve(true);
  });
  socket.once('error', () => resolve(false));
  return promise;
}
