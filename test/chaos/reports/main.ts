import { onStack } from '../on-stack.ts';
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
  await onStack({ replicas: 2, keep }, async (stack, say) => {
    const options = { seed, messages, forMs, schedule, settleMsMax, say };
    const report = await runReportChaos(stack, options);
    const { lost, twice, reports, requests, seconds, problems } = report;
    const lines = [
      `seed      ${seed}`,
      `kills     ${schedule.length}`,
      `duration  ${seconds.toFixed(1)} s`,
      `reports   ${reports} in ${requests} requests`,
      `lost      ${lost}`,
      `twice     ${twice}`,
    ];
    return { lines, problems };
  });
}
