import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { mailDigest } from '../../services/messages/reports/mail/kept.ts';
import { reportsIn } from '../../services/messages/reports/mail/reports.ts';
import { expectedIn } from './expected.ts';

/*
 * Reads the bounces that the project sisimai collects, and compares what they mean with what its
 * tests expect: `npm run bounces [-- --set SOURCE] [--expected SOURCE]`. Both are git repositories,
 * or URLs of such, at fixed commits; a commit's id is its checksum. Nothing of them is kept but in
 * the cache.
 */

const { values } = parseArgs({
  options: {
    set: { type: 'string', default: 'https://github.com/sisimai/set-of-emails.git' },
    expected: { type: 'string', default: 'https://github.com/sisimai/go-sisimai.git' },
  },
});
const commits = {
  set: '18e585c22288b83c1f6943949cb86b2623b362ce',
  expected: 'ed142ded2c40de1233f82d8405a0acf0b76998c6',
};
const agreeMin = 0.97;
/** That a refusal is about the sender is known there by the name of the server alone. */
const exceptions = ['rhost-nttdocomo-02', 'rhost-nttdocomo-03'];
/** A bounce after all, of a full mailbox, which sisimai once missed. */
const isBounce = 'rb-issue-368-bug';
/** Reasons that are never the address's. */
const ofSender =
  /^(?:blocked|policyviolation|spamdetected|rejected|norelaying|authfailure|securityerror|virusdetected|contenterror|mesgtoobig|exceedlimit|requireptr|badreputation|speeding|toomanyconn|feedback|vacation|notcompliantrfc)$/;

const folder = mkdtempSync(join(tmpdir(), 'postrider-bounces-'));
try {
  process.exitCode = await compare();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function compare(): Promise<number> {
  const set = checkOut('set', values.set);
  const expected = expectedIn(join(checkOut('expected', values.expected), 'fact'));
  const [wrong, unsafe, changed]: [string[], string[], string[]] = [[], [], []];
  let [compared, read] = [0, 0];
  for (const kind of ['bsd', 'dos', 'mac', 'not', 'err']) {
    for (const file of readdirSync(join(set, 'maildir', kind)).toSorted()) {
      const reports = await reportsOf(readFileSync(join(set, 'maildir', kind, file)));
      read += 1;
      const name = file.replace(/\.eml$/, '');
      const isHard = reports[0]?.class === 'hard';
      const reasons = kind === 'bsd' ? expected.get(name) : undefined;
      const [reason = ''] = reasons?.map((each) => each.reason) ?? [];
      if (kind === 'not' && name !== isBounce && reports.some(({ type }) => type !== undefined))
        changed.push(name);
      if (reason === 'vacation' && reports.some(({ type }) => type !== undefined)) {
        changed.push(name);
      }
      if (ofSender.test(reason) && isHard && !exceptions.includes(name)) unsafe.push(name);
      if (!reasons) continue;
      compared += 1;
      const wants = wantsHard(reasons[0] ?? { reason: '', status: '' });
      if (wants !== undefined && wants !== isHard) wrong.push(`${name} (${reason})`);
    }
  }
  const share = 1 - wrong.length / compared;
  console.log(`${read} files read, ${compared} compared, ${(share * 100).toFixed(2)} % agree`);
  console.log(`hard or not otherwise: ${wrong.join(', ')}`);
  console.log(`hard, though about the sender or the mail: ${unsafe.join(', ') || 'none'}`);
  console.log(`no bounce, and yet something changes: ${changed.join(', ') || 'none'}`);
  return share >= agreeMin && unsafe.length === 0 && changed.length === 0 ? 0 : 1;
}

async function reportsOf(mail: Buffer) {
  const messageId = '0f8fad5b-d9cb-469f-a165-70867728950e';
  const about = { workspaceId: 'w1', messageId, email: 'ann@example.com', integrationId: 'i1' };
  const reports = await reportsIn(mail, { ...about, digest: mailDigest(mail) });
  const isWrong = reports.length === 0 || reports.some((each) => each.messageId !== messageId);
  if (isWrong) throw new Error('a mail is about another message');
  return reports;
}

/**
 * Whether the address is dead, by the reason that sisimai finds; undefined where the words may mean
 * both. `filtered` is a mailbox that is unknown, or does not want the mail. A domain that is not
 * found may be found again, but one that says that it takes no mail (5.1.10) does not.
 */
function wantsHard({ reason, status }: { reason: string; status: string }): boolean | undefined {
  if (reason === 'filtered') return undefined;
  return (
    reason === 'userunknown' ||
    reason === 'hasmoved' ||
    (reason === 'notaccept' && status === '5.1.10')
  );
}

/** The files of a fixed commit. */
function checkOut(name: keyof typeof commits, source: string): string {
  const repository = join(homedir(), '.cache/postrider/bounces', name);
  const commit = commits[name];
  const git = (...args: string[]) =>
    execFileSync('git', ['--git-dir', repository, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  mkdirSync(repository, { recursive: true });
  git('init', '--bare', '--quiet');
  try {
    git('cat-file', '-e', `${commit}^{tree}`);
  } catch {
    git('fetch', '--quiet', '--depth', '1', source, commit);
  }
  const target = join(folder, name);
  mkdirSync(target);
  const archive = join(folder, `${name}.tar`);
  git('archive', '--output', archive, commit);
  execFileSync('tar', ['-x', '-f', archive, '-C', target]);
  return target;
}
