import { onStack } from '../on-stack.ts';
import { runWebhookChaos } from './chaos.ts';
import { makeWebhookKills } from './schedule.ts';

const everyMs = 6_000;
const settleMsMax = 8 * 60_000;

export type Options = { seed: number; minutes: number; events: number; keep: string | undefined };

/**
 * Exits 0 only if every event came, under one id, no more often than kills explain, and none after
 * deletion.
 */
export async function webhookChaos({ seed, minutes, events, keep }: Options): Promise<void> {
  const forMs = minutes * 60_000;
  const schedule = makeWebhookKills({ seed, kills: Math.ceil(forMs / everyMs), everyMs });
  console.log(`Chaos of webhooks with seed ${seed}: ${events} events, ${schedule.length} kills`);
  await onStack({ replicas: 1, keep }, async (stack, say) => {
    const report = await runWebhookChaos(stack, { events, forMs, schedule, settleMsMax, say });
    const { lost, twice, bound, afterDeletion, seconds, faults, problems } = report;
    const lines = [
      `seed      ${seed}`,
      `kills     ${faults.length}`,
      `duration  ${seconds.toFixed(1)} s`,
      `events    ${report.events}`,
      `lost      ${lost}`,
      `twice     ${twice} (at most ${bound})`,
      `deleted   ${afterDeletion} callbacks were open when deletion was answered`,
    ];
    return { lines, problems };
  });
}
