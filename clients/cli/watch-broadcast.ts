import { setTimeout as sleep } from 'node:timers/promises';
import { Broadcasts } from '../typescript/src/made/broadcasts.ts';
import type { Broadcast } from '../typescript/src/made/types.ts';
import { type CommonOptions, callerOf, type Invocation } from './invocation.ts';
import { progressLine } from './terminal.ts';

const pollMs = 1_000;
const ends = ['sent', 'cancelled', 'failed'];

/** Shows a broadcast until it has ended; false if it was not sent. */
export async function watchBroadcast(
  invocation: Invocation,
  id: string,
  options: CommonOptions,
): Promise<boolean> {
  const broadcasts = new Broadcasts(callerOf(invocation, options).http);
  const progress = progressLine(invocation.terminal);
  try {
    for (;;) {
      const { broadcast } = await broadcasts.get({ id });
      progress.show(lineOf(broadcast));
      if (ends.includes(broadcast.status)) return broadcast.status === 'sent';
      await sleep(pollMs);
    }
  } finally {
    progress.end();
  }
}

function lineOf(broadcast: Broadcast): string {
  const { status, sent_count, failed_count, skipped_count, deferred_count } = broadcast;
  const done = sent_count + failed_count + skipped_count;
  const counts = [
    [sent_count, 'sent'],
    [failed_count, 'failed'],
    [skipped_count, 'skipped'],
    [deferred_count, 'deferred'],
  ] as const;
  const shown = counts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  const reason = broadcast.pause_reason ? ` (${broadcast.pause_reason})` : '';
  return `${[`${status}${reason}`, `${done} of ${broadcast.enqueued_count}`, ...shown].join(', ')}`;
}
