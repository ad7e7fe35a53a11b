import type { Context } from '../context.ts';
import { addMissingWelcomings, type DueQueues, findDueQueues } from '../record/welcomes.ts';

const listsMax = 300;

/**
 * Begins with the welcomes whose delay is over, some lists at a time: those whose jobs cannot be
 * added come with the next minute, and no others wait for them.
 */
export function beginWelcomes({ store, log }: Pick<Context, 'store' | 'log'>) {
  return async (): Promise<void> => {
    let last: DueQueues['last'] = { workspaceId: '', listId: '' };
    while (last) {
      const page: DueQueues = await findDueQueues(store, last, listsMax);
      try {
        await addMissingWelcomings(store, page.due);
      } catch (err) {
        log.warn({ err, lists: page.due.length }, 'due welcomes wait for the next minute');
      }
      last = page.last;
    }
  };
}
