import type { Sender } from '../providers/provider.ts';

/** A server whose speed is not known yet gets one batch. */
const firstWindow = 200;
/** A process renders and records no more at a time. */
const windowMax = 2_000;
/** Lies ready beside what is in flight, while the next batch is claimed and the last recorded. */
const readyMs = 300;

/**
 * How many messages an integration may have on their way: as many as its sender hands over at a
 * time, and what it needs for a moment more.
 */
export function windowOf(sender: Pick<Sender, 'isProbing' | 'messageMs' | 'atOnce'> | undefined) {
  if (!sender) return firstWindow;
  const { isProbing, messageMs, atOnce } = sender;
  if (isProbing) return 1;
  if (messageMs === 0) return firstWindow;
  return Math.min(windowMax, Math.ceil(atOnce * (1 + readyMs / messageMs)));
}
