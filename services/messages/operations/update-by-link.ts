import type { Context, Methods } from '../context.ts';
import { findLinked, linkExpired, markUnsubscribed, unlessGone } from '../links/linked-message.ts';

export function updateByLink(context: Context): Methods['updateByLink'] {
  return async ({ workspaceId, token, $typeName: _, ...changes }) => {
    const message = await findLinked(context, { workspaceId, token });
    if (!message) return {};
    // Joining a list would confirm the address, which confirmByLink refuses for an expired link.
    const asksToJoin = !changes.unsubscribeAll && changes.subscribeListIds.length > 0;
    if (asksToJoin && message.isConfirmation && message.isExpired) throw linkExpired();
    const { id, email, listId } = message;
    await unlessGone(() => context.contacts.updateSubscriber({ workspaceId, email, ...changes }));
    const hasLeft = changes.unsubscribeAll || changes.unsubscribeListIds.includes(listId);
    if (hasLeft) await markUnsubscribed(context, { workspaceId, id });
    return {};
  };
}
