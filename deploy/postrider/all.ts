import type { Env } from '#lib/env.ts';
import { serviceNames } from './parts.ts';

const firstPort = 4410;

/**
 * The settings of `postrider all`: its services find each other on the loopback address, unless
 * variables say otherwise.
 */
export function allInOne(env: Env): Env {
  const own = serviceNames.flatMap((name, index) => {
    const [portName, addressName] = [`${name.toUpperCase()}_PORT`, `${name.toUpperCase()}_ADDR`];
    const port = env[portName] || String(firstPort + index);
    return [
      [portName, port],
      [addressName, env[addressName] || `127.0.0.1:${port}`],
    ];
  });
  return { ...env, ...Object.fromEntries(own) };
}
