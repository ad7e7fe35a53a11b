import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { bulkWorkMaxMs } from '#lib/jobs/jobs.ts';
import type { Context } from '../context.ts';
import { findMailed, markUnsubscribed } from '../links/linked-message.ts';
import { addLeaving, type Leavers } from '../reports/leavers.ts';

/**
 * Unsubscribes those who left at the provider, as if by the link of their mail. A membership that
 * has changed since stays. Every step may be repeated; what a run leaves is a job of its own.
 */
export function unsubscribeLeavers(context: Context) {
  return async (payload: unknown): Promise<void> => {
    const { workspaceId, left } = payload as Leavers;
    const endsAtMs = performance.now() + bulkWorkMaxMs;
    for (const [index, { id, at }] of left.entries()) {
      if (performance.now() > endsAtMs) {
        return addLeaving(context.store.fork(), { workspaceId, left: left.slice(index) });
      }
      const message = await findMailed(context.store, { workspaceId, id });
      if (message && (message.listId !== '' || message.leavesAll)) {
        const { listId, email } = message;
        const happenedAt = timestampFromDate(new Date(at));
        await context.contacts.unsubscribeRecipient({ workspaceId, listId, email, happenedAt });
        await markUnsubscribed(context, { workspaceId, id });
      }
    }
  };
}
