import type { JsonObject } from '@bufbuild/protobuf';
import { type Timestamp, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, type HandlerContext, type ServiceImpl } from '@connectrpc/connect';
import type {
  BroadcastSendService,
  SendBatchRequest,
  SendPlan,
} from '#gen/postrider/messages/v1/messages_pb.ts';
import { sendAll } from '../batch.ts';
import { readRecorded } from '../claims.ts';
import type { Context } from '../context.ts';
import type { Fate } from '../delivery.ts';
import { feedsOf } from '../feeds.ts';
import { broadcastMessageId } from '../message.ts';
import { contactFields } from '../render/fields.ts';
import type { About } from '../variants.ts';

/** Time to finish what has begun and to answer. */
const beforeDeadlineMs = 1_000;

export function sendBatch(context: Context): ServiceImpl<typeof BroadcastSendService>['sendBatch'] {
  return (request, call) =>
    context.admission.run(async () => {
      const stop = stopSignal(call);
      try {
        return await send(context, request, stop.signal);
      } finally {
        stop.clear();
      }
    });
}

async function send(context: Context, request: SendBatchRequest, stop: AbortSignal) {
  const { workspaceId, broadcastId, plan: sendPlan } = request;
  if (!sendPlan) throw new ConnectError('plan is required', Code.InvalidArgument);
  const { templateId, templateVersion, integrationId, listId } = sendPlan;
  const about = aboutBroadcast(workspaceId, broadcastId, sendPlan);
  const key = { workspaceId, templateId, templateVersion, integrationId };
  const plan = await context.plans.get({ ...key, about });
  const emails = new Map(
    request.emails.map((email) => [broadcastMessageId(workspaceId, broadcastId, email), email]),
  );
  const feeds = await feedsOf(context.feeds, sendPlan, () => subjectOf(context, request, sendPlan));
  const recorded = await readRecorded(context.store, workspaceId, [...emails.keys()]);
  const { fates, outage } = await sendAll(context, {
    group: { ...key, broadcastId, listId },
    plan,
    open: [...emails].filter(([id]) => !recorded.has(id)),
    fields: feeds.recipient ? contactFields : plan.fields,
    feeds,
    who: { includeUnsubscribed: sendPlan.includeUnsubscribed && !plan.isMarketing },
    stop,
  });
  return answer(emails.size, new Map([...recorded, ...fates]), outage);
}

/** What a recipient feed is told beside the contact. */
async function subjectOf(
  { plans }: Context,
  { workspaceId, broadcastId }: SendBatchRequest,
  plan: SendPlan,
): Promise<JsonObject> {
  const { name } = await plans.settings(workspaceId);
  return {
    broadcast: { id: broadcastId, name: plan.broadcastName },
    list: { id: plan.listId, name: plan.listName },
    workspace: { id: workspaceId, name },
  };
}

function aboutBroadcast(workspaceId: string, broadcastId: string, plan: SendPlan): About {
  const list = { id: plan.listId, name: plan.listName };
  const utm = Object.fromEntries(Object.entries(plan.utm).filter(([, value]) => value !== ''));
  const named = Object.entries(utm).map(([name, value]) => [`utm_${name}`, value]);
  return {
    list,
    feedbackId: [broadcastId, workspaceId, 'broadcast', 'postrider'],
    utm,
    isTracked: true,
    values: {
      ...Object.fromEntries(named),
      broadcast: { id: broadcastId, name: plan.broadcastName },
      list,
    },
  };
}

/** Aborted by the caller, or a second before the deadline. */
function stopSignal(call: HandlerContext): { signal: AbortSignal; clear: () => void } {
  const deadline = new AbortController();
  const leftMs = call.timeoutMs();
  const timer =
    leftMs === undefined
      ? undefined
      : setTimeout(() => deadline.abort(), Math.max(0, leftMs - beforeDeadlineMs));
  return {
    signal: AbortSignal.any([call.signal, deadline.signal]),
    clear: () => clearTimeout(timer),
  };
}

function answer(total: number, fates: Map<string, Fate>, outage: string) {
  const counts = { sent: 0, failed: 0, skipped: 0, deferred: 0, sending: 0 };
  let unknown = 0;
  let nextDueAt: Date | undefined;
  for (const { status, unknown: times, dueAt } of fates.values()) {
    counts[status] += 1;
    if (times > 0) unknown += 1;
    if (status === 'deferred' && dueAt && (!nextDueAt || dueAt < nextDueAt)) nextDueAt = dueAt;
  }
  const { sent, failed, skipped, deferred } = counts;
  const due: Timestamp | undefined = nextDueAt && timestampFromDate(nextDueAt);
  const notStarted = total - sent - failed - skipped - deferred;
  return { sent, failed, skipped, deferred, notStarted, unknown, nextDueAt: due, outage };
}
