import type { Context } from '../context.ts';
import { beginDueBuilds } from '../segments/build/begin.ts';

/**
 * Computes segments with relative dates again at their time, and wakes builds whose run is gone.
 */
export function beginBuilds({ store, now }: Pick<Context, 'store' | 'now'>) {
  return (): Promise<void> => store.fork().transactional((em) => beginDueBuilds(em, now()));
}
