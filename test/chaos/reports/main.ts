import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { startStack } from '../../stack.ts';
import { makeReportKills, runReportChaos } from './chaos.ts';

const everyMs = 6_000;
const settleMsMax = 5 * 60_000;

export type Options = {
  seed: number;
  minutes: number;
  messages: number;
  keep: string | undefined;
};

/** Exits 0 only if every report that was answered 200 is applied, counted and an event once. */
export async function reportChaos({ seed, minutes, messages, keep }: Options): Promise<void> {
  const forMs = minutes * 60_000;
  const schedule = makeReportKills({ seed, kills: Math.floor(forMs / everyMs), everyMs });
  console.log(
    `Chaos of reports with seed ${seed}: about ${messages} mails, ${schedule.length} kills`,
  );
  const stack = await startStack({ replicas: 2 });
  try {
    const say = (line: string) => console.log(line);
    const options = { seed, messages, forMs, schedule, settleMsMax, say };
    const { lost, twice, reports, requests, seconds, problems } = await runReportChaos(
      stack,
      options,
    );
    console.log(`
seed      ${seed}
kills     ${schedule.length}
duration  ${seconds.toFixed(1)} s
reports   ${reports} in ${requests} requests
lost      ${lost}
twice     ${twice}`);
    for (const problem of problems.slice(0, 20)) console.log(`PROBLEM   ${problem}`);
    console.log(problems.length === 0 ? '\nGood.' : `\nBad: ${problems.length} problems.`);
    process.exitCode = problems.length === 0 ? 0 : 1;
    if (keep && problems.length > 0) cpSync(join(stack.folder, 'logs'), keep, { recursive: true });
  } finally {
    await stack.stop();
  }
}
