/** A server whose speed is not known yet gets one batch. */
export const firstWindow = 200;
/** A process renders and records no more at a time. */
const windowMax = 2_000;
/** Lies ready beside what is in flight, while the next batch is claimed and the last recorded. */
const readyMs = 300;

type Pace = {
  isProbing: boolean;
  /** How long a message takes; 0 if that is not known. */
  messageMs: number;
  /** How many are on their way at a time. */
  connections: number;
};

/** How many messages fill the connections for the time of a message and a moment more. */
export function windowOf({ isProbing, messageMs, connections }: Pace): number {
  if (isProbing) return 1;
  if (messageMs === 0) return firstWindow;
  return Math.min(windowMax, Math.ceil(connections * (1 + readyMs / messageMs)));
}
