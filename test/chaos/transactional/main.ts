import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { startStack } from '../../stack.ts';
import { runTransactionalChaos } from './chaos.ts';
import { makeTransactionalKills } from './schedule.ts';

const everyMs = 5_000;
const settleMsMax = 3 * 60_000;

export type Options = {
  seed: number;
  minutes: number;
  perSecond: number;
  keep: string | undefined;
};

/**
 * Exits 0 only if every message that was accepted came or failed, and none twice beyond what kills
 * explain.
 */
export async function transactionalChaos({
  seed,
  minutes,
  perSecond,
  keep,
}: Options): Promise<void> {
  const forMs = minutes * 60_000;
  const schedule = makeTransactionalKills({ seed, kills: Math.floor(forMs / everyMs), everyMs });
  console.log(
    `Chaos of transactional mail with seed ${seed}: ${perSecond}/s, ${schedule.length} kills`,
  );
  const stack = await startStack({ replicas: 2 });
  try {
    const say = (line: string) => console.log(line);
    const options = { perSecond, forMs, schedule, settleMsMax, say };
    const report = await runTransactionalChaos(stack, options);
    const { accepted, lost, twice, bound, seconds, faults, problems } = report;
    console.log(`
seed      ${seed}
kills     ${faults.length}
duration  ${seconds.toFixed(1)} s
accepted  ${accepted}
lost      ${lost}
twice     ${twice} (at most ${bound})`);
    for (const problem of problems.slice(0, 20)) console.log(`PROBLEM   ${problem}`);
    console.log(problems.length === 0 ? '\nGood.' : `\nBad: ${problems.length} problems.`);
    process.exitCode = problems.length === 0 ? 0 : 1;
    if (keep && problems.length > 0) cpSync(join(stack.folder, 'logs'), keep, { recursive: true });
  } finally {
    await stack.stop();
  }
}
