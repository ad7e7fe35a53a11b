import type { Context } from '../context.ts';
import { addDueWelcomings } from '../record/welcomes.ts';

/** Begins with the welcomes whose delay is over. */
export function beginWelcomes({ store }: Pick<Context, 'store'>) {
  return (): Promise<void> => store.fork().transactional(addDueWelcomings);
}
