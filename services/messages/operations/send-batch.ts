import type { SendBatchRequest } from '#gen/postrider/messages/v1/messages_pb.ts';
import type { Context, Methods } from '../context.ts';
import { broadcastMessageId } from '../message.ts';
import { readRecorded } from '../record/claims.ts';
import { admitted } from '../sending/admission.ts';
import { sendAll } from '../sending/batch.ts';
import { broadcastSending } from '../sending/broadcast.ts';
import { toBatchOutcomes } from '../views/batch-outcomes.ts';

export function sendBatch(context: Context): Methods['sendBatch'] {
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
  return toBatchOutcomes(emails.size, { fates: new Map([...recorded, ...fates]), outage });
}
