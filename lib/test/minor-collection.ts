import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// As in our processes; see `deploy/postrider/main.ts`.
setFlagsFromString('--no-allocation-site-pretenuring');

const rounds = 3;

/**
 * About how many bytes of what `work` has allocated outlive a collection of the young generation.
 * The least of three rounds: what the process does beside it counts as well.
 */
export async function survivorsOf(work: () => void | Promise<void>): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect: (options: { type: 'major' | 'minor' }) => void = runInNewContext('gc');
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round += 1) {
    collect({ type: 'major' });
    const before = getHeapStatistics().used_heap_size;
    await work();
    collect({ type: 'minor' });
    least = Math.min(least, getHeapStatistics().used_heap_size - before);
  }
  return least;
}
