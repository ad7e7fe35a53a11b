import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// As in our processes; see `deploy/postrider/main.ts`.
setFlagsFromString('--no-allocation-site-pretenuring');

/**
 * About how many bytes of what `work` has allocated outlive a collection of the young generation.
 */
export async function survivorsOf(work: () => void | Promise<void>): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect: (options: { type: 'major' | 'minor' }) => void = runInNewContext('gc');
  collect({ type: 'major' });
  const before = getHeapStatistics().used_heap_size;
  await work();
  collect({ type: 'minor' });
  return getHeapStatistics().used_heap_size - before;
}
