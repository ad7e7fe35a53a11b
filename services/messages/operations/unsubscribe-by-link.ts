import type { ServiceImpl } from '@connectrpc/connect';
import type { MessageLinkService } from '#gen/postrider/messages/v1/messages_pb.ts';
import type { Context } from '../context.ts';
import { findLinked, markUnsubscribed } from '../links/linked-message.ts';

export function unsubscribeByLink(
  context: Context,
): ServiceImpl<typeof MessageLinkService>['unsubscribeByLink'] {
  return async ({ workspaceId, token }) => {
    const message = await findLinked(context, { workspaceId, token });
    if (!message) return {};
    const { id, email, listId } = message;
    await context.contacts.unsubscribeRecipient({ workspaceId, listId, email });
    await markUnsubscribed(context, { workspaceId, id });
    return {};
  };
}
