import type { ServiceImpl } from '@connectrpc/connect';
import type { MessageLinkService } from '#gen/postrider/messages/v1/messages_pb.ts';
import type { Context } from '../context.ts';
import { findLinked, linkExpired, markUnsubscribed, unlessGone } from '../links/linked-message.ts';

export function updateByLink(
  context: Context,
): ServiceImpl<typeof MessageLinkService>['updateByLink'] {
  return async ({ workspaceId, token, $typeName: _, ...changes }) => {
    const message = await findLinked(context, { workspaceId, token });
    if (!message) return {};
    // It would confirm what confirmByLink refuses: that whoever reads this address wants the list.
    const asksToJoin = !changes.unsubscribeAll && changes.subscribeListIds.length > 0;
    if (asksToJoin && message.isConfirmation && message.isExpired) throw linkExpired();
    const { id, email, listId } = message;
    await unlessGone(() => context.contacts.updateSubscriber({ workspaceId, email, ...changes }));
    const hasLeft = changes.unsubscribeAll || changes.unsubscribeListIds.includes(listId);
    if (hasLeft) await markUnsubscribed(context, { workspaceId, id });
    return {};
  };
}
