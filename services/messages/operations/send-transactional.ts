import { TransactionalService } from '#gen/postrider/messages/v1/transactional_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { hasPermission } from '#lib/rpc/server/access.ts';
import { keyedCall, replayed } from '#lib/rpc/server/idempotency.ts';
import type { Context, Methods } from '../context.ts';
import { checkMessage } from '../transactional/input.ts';

export function sendTransactional({ transactional, now }: Context): Methods['sendTransactional'] {
  return async (request, call) => {
    const { workspaceId, notification } = request;
    if (!notification) throw invalidField('notification', 'notification is required');
    const checked = checkMessage(notification, { field: 'notification', now: now() });
    const mayChange = hasPermission(call, 'contacts', 'write');
    const keyed = keyedCall(call, TransactionalService.method.sendTransactional, request);
    const item = { checked, mayChange, keyed };
    const { isReplayed, ...answer } = await transactional.acceptance.accept(workspaceId, item);
    if (isReplayed) replayed(call);
    return answer;
  };
}
