import { isFree } from '../../deploy/local/ports.ts';

/** Below the ephemeral ports, so that no client takes one. */
const [lowest, highest] = [12_000, 32_000];
const triesMax = 50;

/** The first of a range of free ports for a stack. */
export async function portsOf(replicas: number): Promise<number> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const first = lowest + Math.floor(Math.random() * (highest - lowest));
    const wanted = [0, 1, 2, 3, 4, 5, 10, 11, 12, 13];
    for (let replica = 0; replica < replicas; replica += 1) wanted.push(14 + replica * 10);
    wanted.push(
      101,
      102,
      103,
      ...wanted.filter((at) => at === 0 || at >= 10).map((at) => at + 100),
    );
    const free = await Promise.all(wanted.map((offset) => isFree(first + offset)));
    if (free.every((each) => each)) return first;
  }
  throw new Error('no free ports were found');
}
