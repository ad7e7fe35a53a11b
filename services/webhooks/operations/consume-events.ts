import type { Context, Methods } from '../context.ts';

/** Makes a delivery for each event and each subscription that wants it. */
export function consumeEvents(_context: Context): Methods['consumeEvents'] {
  return async () => ({});
}
