import { TransactionalService } from '#gen/postrider/messages/v1/transactional_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { hasPermission } from '#lib/rpc/server/access.ts';
import { keyedCall, replayed } from '#lib/rpc/server/idempotency.ts';
import type { Context, Methods } from '../context.ts';
import { checkMessage } from '../transactional/input.ts';
import { requireLiquid } from '../transactional/raw-content.ts';

export function sendTransactional(context: Context): Methods['sendTransactional'] {
  const { transactional, thread, now } = context;
  return async (request, call) => {
    const { workspaceId, notification } = request;
    if (!notification) throw invalidField('notification', 'notification is required');
    const checked = checkMessage(notification, { field: 'notification', now: now() });
    await requireLiquid(thread, workspaceId, checked);
    const mayChange = hasPermission(call, 'contacts', 'write');
    const keyed = keyedCall(call, TransactionalService.method.sendTransactional, request);
    const item = { checked, mayChange, keyed };
    const { isReplayed, ...answer } = await transactional.acceptance.accept(workspaceId, item);
    if (isReplayed) replayed(call);
    return answer;
  };
}
