import { onStack } from '../on-stack.ts';
import { makeKillsInTurn } from '../schedule.ts';
import type { Options } from '../transactional/main.ts';
import { runRelayChaos } from './chaos.ts';

const everyMs = 5_000;
const settleMsMax = 3 * 60_000;
const names = ['messages', 'relay', 'messages-2', 'relay', 'contacts', 'postgres', 'workspaces'];

/** Exits 0 only if every mail that had its 250 came, and none twice beyond what kills explain. */
export async function relayChaos({ seed, minutes, perSecond, keep }: Options): Promise<void> {
  const forMs = minutes * 60_000;
  const kills = Math.max(1, Math.floor(forMs / everyMs));
  const schedule = makeKillsInTurn(names, { seed, kills, everyMs });
  console.log(`Chaos of mails by SMTP with seed ${seed}: ${perSecond}/s, ${kills} kills`);
  await onStack({ replicas: 2, keep }, async (stack, say) => {
    const report = await runRelayChaos(stack, { perSecond, forMs, schedule, settleMsMax, say });
    const { accepted, acceptedBy, acceptedPerSecond, lost, twice, bound, problems } = report;
    const { repeats, repeatsMax, seconds } = report;
    const lines = [
      `seed      ${seed}`,
      `kills     ${report.kills}`,
      `duration  ${seconds.toFixed(1)} s`,
      `accepted  ${accepted}, ${acceptedPerSecond.toFixed(0)}/s: ${JSON.stringify(acceptedBy)}`,
      `lost      ${lost}`,
      `twice     ${twice} (at most ${bound}); without keys ${repeats} (at most ${repeatsMax})`,
    ];
    return { lines, problems };
  });
}
