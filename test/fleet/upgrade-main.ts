import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { givenList } from '../stack/given.ts';
import { fillContacts } from './fill.ts';
import { type Fleet, here, startFleet } from './fleet.ts';
import { longestLockWait } from './lock-waits.ts';
import { linkProblems, linksOfMail, type OldLinks } from './old-links.ts';
import { replaceAll, rolling, textOf } from './rolling.ts';
import { checkOut, lastRelease } from './sources.ts';

/**
 * `npm run upgrade -- --from <tag or commit>`: two of every process of a release, the newest unless
 * one is named, on a fresh database. In the middle of a broadcast and under requests these sources
 * migrate it and take the place of one process after the other. Exits 0 only if no request failed,
 * everybody got each mail once, and links of the release's mails still work.
 */
const { values } = parseArgs({
  options: {
    from: { type: 'string' },
    rate: { type: 'string', default: '20' },
    recipients: { type: 'string', default: '3000' },
    'per-minute': { type: 'string', default: '2000' },
    /** Two processes of `postrider all` in place of one for each part. */
    together: { type: 'boolean', default: false },
    /** Number of contacts before the upgrade, so that migrations have work to do. */
    contacts: { type: 'string', default: '0' },
  },
});

const from = values.from ?? lastRelease();
const root = checkOut(from);
try {
  await upgradeFrom(root);
} finally {
  rmSync(dirname(root), { recursive: true, force: true });
}
process.exit();

async function upgradeFrom(root: string): Promise<void> {
  const fleet = await startFleet({ root, together: values.together });
  try {
    console.log(`${fleet.members().length} processes of ${from} are up`);
    const contacts = Number(values.contacts);
    if (contacts > 0) await fillContacts(fleet, await givenList(fleet), contacts);
    await upgrade(fleet);
  } finally {
    await fleet.stop();
  }
}

async function upgrade(old: Fleet): Promise<void> {
  let links: OldLinks | undefined;
  const { load, broadcast, problems } = await rolling(old, {
    recipients: Number(values.recipients),
    perMinute: Number(values['per-minute']),
    perSecond: Number(values.rate),
    replace: async (_, { emails }) => {
      links = await linksOfMail(old, emails);
      const { result, longestMs } = await longestLockWait(old.databaseUrl, () => old.migrate(here));
      console.log(`${result}requests waited for a lock of migrations for ${longestMs} ms at most`);
      return replaceAll(old, { root: here, ended: (ending) => console.log(textOf(ending)) });
    },
  });
  const all = [...problems, ...(links ? await linkProblems(links) : ['no link was tried'])];
  const { requests, failures, refused, asked, tookMs } = load;
  console.log(`
requests  ${requests}: ${failures.length} failed, ${refused} refused connections, ${asked} asked to come again
longest   ${Math.round(tookMs.at(-1) ?? 0)} ms
broadcast lost ${broadcast.lost}, twice ${broadcast.twice}`);
  for (const problem of all.slice(0, 20)) console.log(`PROBLEM   ${problem}`);
  console.log(all.length === 0 ? '\nGood.' : `\nBad: ${all.length} problems.`);
  process.exitCode = all.length === 0 ? 0 : 1;
}
