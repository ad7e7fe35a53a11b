import { Code, ConnectError, type ServiceImpl } from '@connectrpc/connect';
import type { MessageLinkService } from '#gen/postrider/messages/v1/messages_pb.ts';
import { query } from '#lib/store.ts';
import type { Context } from '../context.ts';
import { readToken } from '../unsubscribe-token.ts';

export function unsubscribeByLink({
  store,
  keyring,
  contacts,
  now,
}: Context): ServiceImpl<typeof MessageLinkService>['unsubscribeByLink'] {
  return async ({ workspaceId, token }) => {
    const id = readToken(keyring, workspaceId, token);
    if (!id) throw new ConnectError('the link is not valid', Code.InvalidArgument);
    const [message] = await query<{ contact_email: string; list_id: string | null }>(
      store.fork(),
      'select contact_email, list_id from messages where workspace_id = $1 and id = $2',
      [workspaceId, id],
    );
    if (!message?.list_id) return {};
    const { contact_email: email, list_id: listId } = message;
    await contacts.unsubscribeRecipient({ workspaceId, listId, email });
    await query(
      store.fork(),
      `update messages set unsubscribed_at = $3, updated_at = $3
       where workspace_id = $1 and id = $2 and unsubscribed_at is null`,
      [workspaceId, id, now()],
    );
    return {};
  };
}
