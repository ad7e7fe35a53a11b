import { isFree } from '../../deploy/local/ports.ts';

/** Below the ephemeral ports, so that no client takes one. */
const [lowest, highest] = [12_000, 32_000];
const triesMax = 50;

/** The first of a range of free ports for a stack. */
export async function portsOf(replicas: number): Promise<number> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const first = lowest + Math.floor(Math.random() * (highest - lowest));
    const services = Array.from({ length: 10 * (replicas + 1) }, (_, at) => at);
    const wanted = [...services, ...services.map((at) => at + 100)];
    const free = await Promise.all(wanted.map((offset) => isFree(first + offset)));
    if (free.every((each) => each)) return first;
  }
  throw new Error('no free ports were found');
}
