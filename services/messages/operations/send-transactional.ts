import { TransactionalService } from '#gen/postrider/messages/v1/transactional_pb.ts';
import { invalidField } from '#lib/rpc/errors.ts';
import { hasPermission } from '#lib/rpc/server/access.ts';
import { once } from '#lib/rpc/server/idempotency.ts';
import type { Context, Methods } from '../context.ts';
import { acceptInto } from '../transactional/acceptance.ts';
import { checkMessage } from '../transactional/input.ts';
import { prepareAll } from '../transactional/prepare.ts';

export function sendTransactional(context: Context): Methods['sendTransactional'] {
  const { transactional, store } = context;
  return async (request, call) => {
    const { workspaceId, notification } = request;
    if (!notification) throw invalidField('notification', 'notification is required');
    const checked = checkMessage(notification, { field: 'notification', now: context.now() });
    const item = { checked, mayChange: hasPermission(call, 'contacts', 'write') };
    if (!call.requestHeader.has('idempotency-key')) {
      return transactional.acceptance.accept(workspaceId, item);
    }
    transactional.acceptance.checkBacklog(workspaceId);
    const preparing = { ...context, notifications: transactional.notifications };
    const prepared = await prepareAll(preparing, workspaceId, [item]);
    const method = TransactionalService.method.sendTransactional;
    const answer = await once(store, call, method, request, async (em) => {
      const [accepted] = await acceptInto(em, context, { workspaceId, prepared });
      if (!accepted || accepted instanceof Error) throw accepted ?? new Error('no outcome');
      return accepted;
    });
    transactional.acceptance.queued(workspaceId);
    return answer;
  };
}
