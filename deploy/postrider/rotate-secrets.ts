import type { Env } from '#lib/env.ts';
import { isService, services } from './parts.ts';

/** Has a service seal anew what it stores. Ends with 1 if something cannot be opened. */
export async function rotateSecrets(args: readonly string[], env: Env): Promise<void> {
  const [name = ''] = args;
  if (args.length !== 1 || !isService(name)) throw new Error('rotate-secrets takes one service');
  const part = await services[name]();
  const unreadable = await part.reseal(env);
  process.exit(unreadable > 0 ? 1 : 0);
}
