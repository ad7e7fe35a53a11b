import { Code, ConnectError } from '@connectrpc/connect';
import type { Context, Methods } from '../context.ts';
import { uuid } from '../history/cursor.ts';
import { cancelQueued } from '../record/queue.ts';

export function cancelTransactional({ store }: Context): Methods['cancelTransactional'] {
  return async ({ workspaceId, messageId }) => {
    const status = uuid.test(messageId)
      ? await cancelQueued(store, { workspaceId, id: messageId })
      : undefined;
    if (status === undefined) throw new ConnectError('Message not found', Code.NotFound);
    if (status === 'cancelled') return { success: true };
    throw new ConnectError(`cannot cancel a message that is ${status}`, Code.FailedPrecondition);
  };
}
