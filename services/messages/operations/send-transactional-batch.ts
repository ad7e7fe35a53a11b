import type { MessageShape } from '@bufbuild/protobuf';
import { ConnectError } from '@connectrpc/connect';
import type { TransactionalMessage } from '#gen/postrider/messages/v1/transactional_pb.ts';
import { TransactionalService } from '#gen/postrider/messages/v1/transactional_pb.ts';
import { hasPermission } from '#lib/rpc/server/access.ts';
import { keyedCall, knownAnswers, once, replayed } from '#lib/rpc/server/idempotency.ts';
import type { Context, Methods } from '../context.ts';
import { acceptInto } from '../transactional/acceptance.ts';
import { checkMessage } from '../transactional/input.ts';
import type { TransactionalAnswer, TransactionalItem } from '../transactional/item.ts';
import { prepareAll } from '../transactional/prepare.ts';
import { requireLiquid } from '../transactional/raw-content.ts';

export function sendTransactionalBatch(context: Context): Methods['sendTransactionalBatch'] {
  const { transactional, store, thread } = context;
  return async (request, call) => {
    const { workspaceId, notifications } = request;
    const mayChange = hasPermission(call, 'contacts', 'write');
    const now = context.now();
    const given = await Promise.all(
      notifications.map((message, index) => {
        const field = `notifications[${index}]`;
        return readItem(thread, message, { workspaceId, field, mayChange, now });
      }),
    );
    const items = given.filter(
      (each): each is TransactionalItem => !(each instanceof ConnectError),
    );
    const method = TransactionalService.method.sendTransactionalBatch;
    const keyed = keyedCall(call, method, request);
    if (!keyed) {
      return answerOf(given, await transactional.acceptance.acceptAll(workspaceId, items));
    }
    const known = (await knownAnswers(store, [keyed])).get(keyed);
    if (known instanceof ConnectError) throw known;
    if (known) {
      replayed(call);
      return known as MessageShape<typeof method.output>;
    }
    transactional.acceptance.requireRoom(workspaceId);
    const preparing = { ...context, notifications: transactional.notifications };
    const prepared = await prepareAll(preparing, workspaceId, items);
    const answer = await once(store, call, method, request, async (em) =>
      answerOf(given, await acceptInto(em, context, { workspaceId, prepared })),
    );
    transactional.acceptance.queued(workspaceId, items);
    return answer;
  };
}

async function readItem(
  thread: Context['thread'],
  message: TransactionalMessage,
  given: { workspaceId: string; field: string; mayChange: boolean; now: Date },
): Promise<TransactionalItem | ConnectError> {
  const { workspaceId, mayChange } = given;
  try {
    const checked = checkMessage(message, given);
    await requireLiquid(thread, workspaceId, checked);
    return { checked, mayChange };
  } catch (error) {
    if (error instanceof ConnectError) return error;
    throw error;
  }
}

/**
 * One result for each message. A fault of the server is the whole call's, so that it is repeated.
 */
function answerOf(
  given: readonly (TransactionalItem | ConnectError)[],
  accepted: readonly (TransactionalAnswer | Error)[],
) {
  const left = accepted[Symbol.iterator]();
  const results = given.map((each) => {
    const outcome = each instanceof ConnectError ? each : left.next().value;
    if (outcome instanceof ConnectError) return { success: false, error: outcome.rawMessage };
    if (!outcome || outcome instanceof Error) throw outcome ?? new Error('no outcome');
    return outcome;
  });
  return { results };
}
