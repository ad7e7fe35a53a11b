import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { startStack } from '../../stack.ts';
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
  const stack = await startStack({ replicas: 1 });
  try {
    const say = (line: string) => console.log(line);
    const report = await runWebhookChaos(stack, { events, forMs, schedule, settleMsMax, say });
    const { lost, twice, bound, afterDeletion, seconds, faults, problems } = report;
    console.log(`
seed      ${seed}
kills     ${faults.length}
duration  ${seconds.toFixed(1)} s
events    ${report.events}
lost      ${lost}
twice     ${twice} (at most ${bound})
deleted   ${afterDeletion} callbacks were open when deletion was answered`);
    for (const problem of problems.slice(0, 20)) console.log(`PROBLEM   ${problem}`);
    console.log(problems.length === 0 ? '\nGood.' : `\nBad: ${problems.length} problems.`);
    process.exitCode = problems.length === 0 ? 0 : 1;
    if (keep && problems.length > 0) cpSync(join(stack.folder, 'logs'), keep, { recursive: true });
  } finally {
    await stack.stop();
  }
}
