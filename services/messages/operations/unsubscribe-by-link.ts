import type { Context, Methods } from '../context.ts';
import { findLinked, markUnsubscribed } from '../links/linked-message.ts';

export function unsubscribeByLink(context: Context): Methods['unsubscribeByLink'] {
  return async ({ workspaceId, token }) => {
    const message = await findLinked(context, { workspaceId, token });
    // Transactional mail is about no list.
    if (!message || (message.listId === '' && !message.leavesAll)) return {};
    const { id, email, listId } = message;
    await context.contacts.unsubscribeRecipient({ workspaceId, listId, email });
    await markUnsubscribed(context, { workspaceId, id });
    return {};
  };
}
