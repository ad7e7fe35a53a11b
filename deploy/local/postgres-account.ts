import { spawnSync } from 'node:child_process';
import { chownSync, readFileSync, statSync } from 'node:fs';

/** How to start PostgreSQL's programs, which refuse to run as root. */
export type Account = {
  /** Arguments before the path of the program. */
  prefix: string[];
  uid?: number;
  gid?: number;
};

/**
 * Chooses the account that owns `folder`, which exists: the caller's own unless that is root, then
 * a system account that can reach both the programs and the folder, else root itself under another
 * name in a user namespace (for a checkout under /root, which no other account may enter).
 */
export function chooseAccount(folder: string, program: string): Account {
  if (process.getuid?.() !== 0) return { prefix: [] };
  const owner = statSync(folder).uid;
  for (const account of systemAccounts()) {
    if (owner !== 0 && owner !== account.uid) continue;
    chownSync(folder, account.uid, account.gid);
    if (reaches(account, program, folder)) return { prefix: [], ...account };
    chownSync(folder, owner, 0);
  }
  if (owner !== 0) {
    throw new Error(`${folder} belongs to user ${owner}, who cannot run ${program}`);
  }
  const prefix = ['unshare', '--user', '--map-user=1000', '--map-group=1000'];
  if (spawnSync('unshare', [...prefix.slice(1), program, '--version']).status !== 0) {
    throw new Error('PostgreSQL cannot run as root here; start Postrider as another user');
  }
  return { prefix };
}

/** The accounts `postgres` and `nobody`, as far as this machine has them. */
function systemAccounts(): { uid: number; gid: number }[] {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  return ['postgres', 'nobody'].flatMap((name) => {
    const fields = lines.find((line) => line.startsWith(`${name}:`))?.split(':');
    return fields ? [{ uid: Number(fields[2]), gid: Number(fields[3]) }] : [];
  });
}

/** Tries as the account itself, which may have no access to the parent folders. */
function reaches(account: { uid: number; gid: number }, program: string, folder: string): boolean {
  return (
    spawnSync(program, ['--version'], { ...account, cwd: '/' }).status === 0 &&
    spawnSync('test', ['-w', folder], { ...account, cwd: '/' }).status === 0
  );
}
