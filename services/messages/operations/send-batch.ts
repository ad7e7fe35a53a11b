import type { SendBatchRequest } from '#gen/postrider/messages/v1/messages_pb.ts';
import type { Context, Methods } from '../context.ts';
import { broadcastSending } from '../delivery/broadcast.ts';
import { sendAll } from '../delivery/send-all.ts';
import { withinCall } from '../delivery/within-call.ts';
import { broadcastMessageId } from '../message.ts';
import { type Known, readRecorded } from '../record/claims.ts';
import { toBatchOutcomes } from '../views/batch-outcomes.ts';

export function sendBatch(context: Context): Methods['sendBatch'] {
  return (request, call) => withinCall(call, (stop) => send(context, request, stop));
}

const nothingKnown: Known = { recorded: new Map(), claimable: new Set() };

async function send(context: Context, request: SendBatchRequest, stop: AbortSignal) {
  const { workspaceId, broadcastId, plan: sendPlan } = request;
  const sending = await broadcastSending(context, request);
  const emails = new Map(
    request.emails.map((email) => [broadcastMessageId(workspaceId, broadcastId, email), email]),
  );
  const { recorded, claimable } = request.isFirstCall
    ? nothingKnown
    : await readRecorded(context.store, workspaceId, [...emails.keys()]);
  const includeUnsubscribed = sendPlan?.includeUnsubscribed && !sending.plan.isMarketing;
  const { fates, outage, retryAfterMs } = await sendAll(context, {
    ...sending,
    open: [...emails].filter(([id]) => !recorded.has(id)),
    areNew: claimable.size === 0,
    who: { includeUnsubscribed },
    isUrgent: false,
    stop,
  });
  const known = new Map([...recorded, ...fates]);
  return toBatchOutcomes(emails.size, { fates: known, outage, retryAfterMs });
}
