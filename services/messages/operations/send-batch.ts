import type { SendBatchRequest } from '#gen/postrider/messages/v1/messages_pb.ts';
import type { Context, Methods } from '../context.ts';
import { broadcastSending } from '../delivery/broadcast.ts';
import { sendAll } from '../delivery/send-all.ts';
import { withinCall } from '../delivery/within-call.ts';
import { broadcastMessageId } from '../message.ts';
import { domainOf } from '../mime/headers.ts';
import { createSenderNotes } from '../record/broadcast-senders.ts';
import { type RecordedState, readRecorded } from '../record/claims.ts';
import { toBatchOutcomes } from '../views/batch-outcomes.ts';

export function sendBatch(context: Context): Methods['sendBatch'] {
  const noteSender = createSenderNotes(context.store);
  return (request, call) =>
    withinCall(call, (stop) => send(context, { noteSender, request, stop }));
}

const nothingKnown: RecordedState = { recorded: new Map(), claimable: new Set() };

type BatchCall = {
  noteSender: ReturnType<typeof createSenderNotes>;
  request: SendBatchRequest;
  stop: AbortSignal;
};

async function send(context: Context, { noteSender, request, stop }: BatchCall) {
  const { workspaceId, broadcastId, plan: sendPlan } = request;
  const sending = await broadcastSending(context, request);
  const { group, plan } = sending;
  const { templateId } = group;
  const fromDomain = domainOf(plan.variantFor({}).from);
  await noteSender({ workspaceId, broadcastId, templateId, fromDomain });
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
