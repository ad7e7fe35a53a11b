import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** About how many bytes of what `work` has allocated outlive a collection of the young generation. */
export function survivorsOf(work: () => void): number {
  setFlagsFromString('--expose-gc');
  const collect: (options: { type: 'major' | 'minor' }) => void = runInNewContext('gc');
  collect({ type: 'major' });
  const before = getHeapStatistics().used_heap_size;
  work();
  collect({ type: 'minor' });
  return getHeapStatistics().used_heap_size - before;
}
