import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startStack } from '../stack.ts';
import { runSoak } from './soak.ts';
import { table } from './verdict.ts';

/**
 * `npm run soak -- --hours 1`: two of each service and worker under broadcasts, transactional mail,
 * imports with webhooks, opens, clicks and reads, while a process is killed each minute and all are
 * restarted in turn in the middle. Exits 0 only if nothing was lost, nothing came twice beyond what
 * kills explain, and memory (in runs of 0.4 h and more), connections and histories stayed flat.
 */
const { values } = parseArgs({
  options: {
    hours: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    /** Folder for the logs of a bad run. */
    keep: { type: 'string' },
  },
});
const seed = Number(values.seed);
const hours = Number(values.hours);
/** Each quarter needs samples, and the middle a rolling restart. */
const hoursMin = 0.05;
if (!(hours >= hoursMin)) throw new Error(`--hours is ${hoursMin} at least`);
const forMs = hours * 3_600_000;
const say = (line: string) => console.log(line);

say(`Soak of ${hours} h with seed ${seed}`);
const stack = await startStack({ replicas: 2, environment: { REPLICAS: '2' } });
try {
  const { checks, calls, span } = await runSoak(stack, { forMs, seed, say });
  for (const line of ['', ...table(calls.made, span), '']) say(line);
  for (const { isGood, text } of checks) say(`${isGood ? 'ok ' : 'BAD'}  ${text}`);
  const bad = checks.filter(({ isGood }) => !isGood).length;
  say(bad === 0 ? '\nGood.' : `\nBad: ${bad} checks of ${checks.length}.`);
  process.exitCode = bad === 0 ? 0 : 1;
  if (values.keep && bad > 0) {
    cpSync(join(stack.folder, 'logs'), values.keep, { recursive: true });
  }
} finally {
  await stack.stop();
}
