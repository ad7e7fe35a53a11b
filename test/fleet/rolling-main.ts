import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startFleet } from './fleet.ts';
import { replaceAll, rolling, textOf } from './rolling.ts';

/**
 * `npm run rolling`: two of every process, a broadcast and 200 requests a second, while each
 * process is ended by SIGTERM and replaced. Exits 0 only if no request failed beyond what a retry
 * by `Retry-After` answers, each process said that it is not ready before it went and ended with 0,
 * and everybody got the broadcast once.
 */
const { values } = parseArgs({
  options: {
    rate: { type: 'string', default: '200' },
    recipients: { type: 'string', default: '10000' },
    /** Messages a minute of the broadcast. */
    'per-minute': { type: 'string', default: '4000' },
    /** Two processes of `postrider all` in place of one for each part. */
    together: { type: 'boolean', default: false },
    /** Folder for the logs. */
    keep: { type: 'string' },
  },
});

const fleet = await startFleet({ together: values.together });
try {
  console.log(`${fleet.members().length} processes are up`);
  const { load, broadcast, problems } = await rolling(fleet, {
    recipients: Number(values.recipients),
    perMinute: Number(values['per-minute']),
    perSecond: Number(values.rate),
    replace: (all) => replaceAll(all, { ended: (ending) => console.log(textOf(ending)) }),
  });
  const { requests, refused, asked, failures, tookMs } = load;
  const at = (share: number) => `${Math.round(tookMs[Math.floor(tookMs.length * share)] ?? 0)} ms`;
  console.log(`
requests  ${requests}: ${failures.length} failed, ${refused} refused connections, ${asked} asked to come again
took      p50 ${at(0.5)}, p99 ${at(0.99)}, longest ${at(0.999999)}
accepted  ${load.accepted.length} transactional mails
broadcast lost ${broadcast.lost}, twice ${broadcast.twice}`);
  for (const problem of problems.slice(0, 20)) console.log(`PROBLEM   ${problem}`);
  console.log(problems.length === 0 ? '\nGood.' : `\nBad: ${problems.length} problems.`);
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  if (values.keep) cpSync(join(fleet.folder, 'logs'), values.keep, { recursive: true });
  await fleet.stop();
}
process.exit();
