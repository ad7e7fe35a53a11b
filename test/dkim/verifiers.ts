import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/*
 * Two verifiers of Debian: OpenDKIM and dkimpy. Their packages are unpacked into a folder of their
 * own, and nothing of the machine changes.
 */

/** Kept, so that a later run needs no network. */
const cache = join(homedir(), '.cache/postrider/dkim');
const root = join(cache, 'root');
/** With the libraries that a machine may lack. */
const packages = [
  ...['opendkim', 'libopendkim11', 'libmilter1.0.1', 'libvbr2', 'librbl1', 'libopendbx1'],
  ...['liblua5.3-0', 'libmemcached11', 'libhashkit2', 'libunbound8', 'libbsd0', 'libdb5.3'],
  ...['libldap-2.5-0', 'libsasl2-2', 'libevent-2.1-7', 'libmd0', 'libsodium23'],
  ...['python3-dkim', 'python3-dnspython', 'python3-nacl', 'python3-cffi-backend'],
];
const maxBytes = 64 * 1024 * 1024;

/** Why the verifiers cannot run here; empty where they can. */
export function noVerifiers(): string {
  mkdirSync(root, { recursive: true });
  if (globSync('*.deb', { cwd: cache }).length < packages.length) {
    const fetched = spawnSync('apt-get', ['download', ...packages], { cwd: cache });
    if (fetched.error) return 'it needs apt-get, as on Debian';
    if (fetched.status !== 0) return 'apt-get does not find opendkim and python3-dkim';
  }
  for (const file of globSync('*.deb', { cwd: cache })) {
    if (spawnSync('dpkg', ['-x', file, root], { cwd: cache }).status !== 0)
      return `${file} cannot be unpacked`;
  }
  if (run(join(root, 'usr/sbin/opendkim'), ['-V']).status !== 0) return 'OpenDKIM does not run';
  return run('/usr/bin/python3', ['-c', 'import dkim, nacl.signing']).status === 0
    ? ''
    : 'dkimpy does not run';
}

function run(command: string, args: readonly string[], cwd = cache) {
  const libraries = [
    ...new Set(globSync('**/*.so*', { cwd: root }).map((file) => join(root, dirname(file)))),
  ];
  const env = {
    ...process.env,
    LD_LIBRARY_PATH: libraries.filter((folder) => !folder.includes('python')).join(':'),
    PYTHONPATH: join(root, 'usr/lib/python3/dist-packages'),
  };
  return spawnSync(command, args, { cwd, env, encoding: 'utf8', maxBuffer: maxBytes });
}

/** Writes mails and records for the verifiers. */
export function writeMails(
  folder: string,
  mails: readonly string[],
  records: ReadonlyMap<string, string>,
): void {
  mkdirSync(join(folder, 'mails'));
  for (const [index, mail] of mails.entries()) {
    const name = `${index}`.padStart(5, '0');
    writeFileSync(join(folder, 'mails', name), mail, 'latin1');
  }
  const lines = [...records].map(([name, record]) => `${name} ${record}\n`);
  writeFileSync(join(folder, 'records'), lines.join(''));
}

/** Whether OpenDKIM takes each mail, which is by its first signature. */
export function byOpenDkim(folder: string): boolean[] {
  const settings = ['Mode v', `TestPublicKeys ${join(folder, 'records')}`, 'Socket local:none'];
  writeFileSync(join(folder, 'settings'), `${settings.join('\n')}\n`);
  const files = readdirSync(join(folder, 'mails')).toSorted();
  return files.map((file) => {
    const args = ['-x', join(folder, 'settings'), '-t', join(folder, 'mails', file)];
    return /verification \(.*\) succeeded/.test(run(join(root, 'usr/sbin/opendkim'), args).stdout);
  });
}

/** The verdicts of dkimpy on the signatures of each mail. */
export function byDkimpy(folder: string): string[] {
  const script = join(import.meta.dirname, 'verify.py');
  const args = [script, join(folder, 'records'), join(folder, 'mails')];
  const { stdout, stderr, status } = run('/usr/bin/python3', args);
  if (status !== 0) throw new Error(`dkimpy has ended: ${stderr}`);
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.split(' ').slice(1).join(' '));
}
