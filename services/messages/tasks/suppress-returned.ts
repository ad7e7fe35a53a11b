import type { Context } from '../context.ts';
import { type Returned, suppressReturned as suppress } from '../reports/soft-bounces.ts';

/** Suppresses those of the addresses whose mails came back again and again. */
export function suppressReturned({ store, softBounces }: Context) {
  return (payload: unknown): Promise<void> => suppress(store, softBounces, payload as Returned);
}
