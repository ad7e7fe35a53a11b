import { isFree } from '../../deploy/local/ports.ts';
import { readStackConfig } from '../../deploy/local/stack-config.ts';

/** Below the ephemeral ports, so that no client takes one. */
const [lowest, highest] = [12_000, 32_000];
const triesMax = 50;

/** The first of a range of free ports for a stack. */
export async function portsOf(replicas: number): Promise<number> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const first = lowest + Math.floor(Math.random() * (highest - lowest));
    const wanted = portsAbove(replicas);
    const free = await Promise.all(wanted.map((offset) => isFree(first + offset)));
    if (free.every((each) => each)) return first;
  }
  throw new Error('no free ports were found');
}

/** All ports of a stack, above its first. */
function portsAbove(replicas: number): number[] {
  const env = { POSTRIDER_PORT: '2000', REPLICAS: String(replicas) };
  const { metrics, services, ...parts } = readStackConfig(env, '/').ports;
  const all = [
    ...Object.values(metrics),
    ...Object.values(services).flat(),
    ...Object.values(parts),
  ];
  return all.map((port) => port - parts.gateway);
}
