import type { BroadcastKey } from '../broadcast/broadcast.ts';
import { findIfThere } from '../broadcast/queries.ts';
import type { Context } from '../context.ts';
import { takeStep } from '../lifecycle/change.ts';
import { numbersOf, readStats, sampleOf } from '../variations/stats.ts';
import { decideWinner } from '../variations/winner.ts';

/** Judges a test by its numbers, unless a person was faster. */
export function pickWinner(context: Context) {
  return async (key: BroadcastKey): Promise<void> => {
    const broadcast = await findIfThere(context.store.fork(), key);
    if (broadcast?.status !== 'test_completed') return;
    const metric = broadcast.test_settings.auto_send_winner_metric;
    if (metric === '') return;
    const statsOf = await readStats(context, [broadcast]);
    const decision = decideWinner(numbersOf(broadcast, statsOf), metric);
    const winner = { ...decision, sample: sampleOf(broadcast, statsOf) };
    await takeStep(context.store, key, (row) => {
      if (row.status === 'test_completed') row.selectWinner(context.now(), winner);
    });
  };
}
