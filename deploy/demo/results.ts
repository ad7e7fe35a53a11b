import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningBroadcast } from './broadcast.ts';
import type { ReaderTotals } from './readers.ts';
import { type DemoJob, templateId, variations } from './story.ts';

export type Results = {
  variation_results: Record<string, Result>;
  recommended_winner?: string;
};

type Result = {
  template_name: string;
  recipients: number;
  opens: number;
  clicks: number;
  open_rate: number;
  click_rate: number;
};

const pollMs = 100;
const countedMsMax = 20_000;
const barLength = 24;

/** The test's results, once every opened mail and pressed button is counted. */
export async function untilCounted(
  job: DemoJob,
  { id }: RunningBroadcast,
  reads: Record<string, ReaderTotals>,
): Promise<Results> {
  const untilMs = Date.now() + countedMsMax;
  for (;;) {
    const query = { workspace_id: job.workspaceId, id };
    const results = await job.api<Results>('broadcasts.getTestResults', { query });
    const isCounted = variations.every((variation) => {
      const result = results.variation_results[templateId(job, variation)];
      const read = reads[variation.id];
      return result?.opens === read?.opened && result?.clicks === read?.clicked;
    });
    if (isCounted) return results;
    if (Date.now() > untilMs) throw new Error('what readers did was not counted in time');
    await sleep(pollMs);
  }
}

/** A small chart of the results of each variation. */
export function draw({ variation_results: results }: Results): void {
  console.log('');
  for (const each of Object.values(results)) {
    const { template_name: name, recipients } = each;
    console.log(`  ${name.padEnd(9)} ${line('opened', each.open_rate)}  of ${recipients}`);
    console.log(`  ${''.padEnd(9)} ${line('clicked', each.click_rate)}`);
  }
  console.log('');
}

function line(word: string, rate: number): string {
  const full = Math.round(rate * barLength);
  const bar = '█'.repeat(full) + '░'.repeat(barLength - full);
  return `${word.padEnd(8)}${bar} ${(rate * 100).toFixed(1).padStart(5)} %`;
}
