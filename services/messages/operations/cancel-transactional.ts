import { refusal } from '#lib/errors/reasons.ts';

import type { Context, Methods } from '../context.ts';
import { uuid } from '../history/cursor.ts';
import { cancelQueued } from '../record/queue.ts';

export function cancelTransactional({ store }: Context): Methods['cancelTransactional'] {
  return async ({ workspaceId, messageId }) => {
    const status = uuid.test(messageId)
      ? await cancelQueued(store, { workspaceId, id: messageId })
      : undefined;
    if (status === undefined) throw refusal('MESSAGE_NOT_FOUND', 'Message not found');
    if (status === 'cancelled') return { success: true };
    throw refusal('MESSAGE_STATUS', `cannot cancel a message that is ${status}`);
  };
}
