import { onStack } from '../on-stack.ts';
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
  await onStack({ replicas: 2, keep }, async (stack, say) => {
    const options = { perSecond, forMs, schedule, settleMsMax, say };
    const report = await runTransactionalChaos(stack, options);
    const { accepted, lost, twice, bound, seconds, faults, problems } = report;
    const lines = [
      `seed      ${seed}`,
      `kills     ${faults.length}`,
      `duration  ${seconds.toFixed(1)} s`,
      `accepted  ${accepted}`,
      `lost      ${lost}`,
      `twice     ${twice} (at most ${bound})`,
    ];
    return { lines, problems };
  });
}
