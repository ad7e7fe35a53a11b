import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { ServiceImpl } from '@connectrpc/connect';
import type {
  BroadcastSendService,
  SendBatchRequest,
} from '#gen/postrider/messages/v1/messages_pb.ts';
import { admitted } from '../admission.ts';
import { type Sent, sendAll } from '../batch.ts';
import { broadcastSending } from '../broadcast-sending.ts';
import { readRecorded } from '../claims.ts';
import type { Context } from '../context.ts';
import { broadcastMessageId } from '../message.ts';
import { unrenderedReason } from '../unrendered.ts';

export function sendBatch(context: Context): ServiceImpl<typeof BroadcastSendService>['sendBatch'] {
  return (request, call) => admitted(context, call, (stop) => send(context, request, stop));
}

async function send(context: Context, request: SendBatchRequest, stop: AbortSignal) {
  const { workspaceId, broadcastId, plan: sendPlan } = request;
  const sending = await broadcastSending(context, request);
  const emails = new Map(
    request.emails.map((email) => [broadcastMessageId(workspaceId, broadcastId, email), email]),
  );
  const recorded = await readRecorded(context.store, workspaceId, [...emails.keys()]);
  const includeUnsubscribed = sendPlan?.includeUnsubscribed && !sending.plan.isMarketing;
  const { fates, outage } = await sendAll(context, {
    ...sending,
    open: [...emails].filter(([id]) => !recorded.has(id)),
    who: { includeUnsubscribed },
    stop,
  });
  return answer(emails.size, { fates: new Map([...recorded, ...fates]), outage });
}

function answer(total: number, { fates, outage }: Sent) {
  const counts = { sent: 0, failed: 0, skipped: 0, deferred: 0, sending: 0 };
  let unknown = 0;
  let nextDueAt: Date | undefined;
  const unrendered: string[] = [];
  for (const { status, unknown: times, info, dueAt } of fates.values()) {
    counts[status] += 1;
    const reason = status === 'failed' ? unrenderedReason(info) : undefined;
    if (reason !== undefined) unrendered.push(reason);
    if (times > 0) unknown += 1;
    if (status === 'deferred' && dueAt && (!nextDueAt || dueAt < nextDueAt)) nextDueAt = dueAt;
  }
  const { sent, failed, skipped, deferred } = counts;
  const notStarted = total - sent - failed - skipped - deferred;
  return {
    ...{ sent, failed, skipped, deferred, notStarted, unknown },
    nextDueAt: nextDueAt && timestampFromDate(nextDueAt),
    outage: outage?.reason,
    outageEndsAt: outage?.endsAt && timestampFromDate(outage.endsAt),
    unrendered: unrendered.length,
    unrenderedReason: unrendered[0],
  };
}
