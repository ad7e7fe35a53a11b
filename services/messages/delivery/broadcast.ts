import type { JsonObject } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { SendPlan } from '#gen/postrider/messages/v1/messages_pb.ts';
import { contactFields } from '#lib/liquid/variables.ts';
import { type Feeds, feedsOf } from '../plans/feeds.ts';
import type { Plans } from '../plans/plans.ts';
import type { About } from '../plans/variants.ts';
import type { BatchInput } from './send-all.ts';

type PlanContext = { plans: Plans; feeds: Feeds };
type BroadcastRequest = { workspaceId: string; broadcastId: string; plan?: SendPlan };

/** Reads what all messages of a broadcast share: plan, fields and feeds. */
export async function broadcastSending(
  context: PlanContext,
  { workspaceId, broadcastId, plan: sendPlan }: BroadcastRequest,
): Promise<Pick<BatchInput, 'group' | 'plan' | 'fields' | 'feeds'>> {
  if (!sendPlan) throw new ConnectError('plan is required', Code.InvalidArgument);
  const { templateId, templateVersion, integrationId, listId, tags } = sendPlan;
  const about = aboutBroadcast(workspaceId, broadcastId, sendPlan);
  const key = { workspaceId, templateId, templateVersion, integrationId };
  const plan = await context.plans.get({ ...key, about });
  const subject = () => subjectOf(context, sendPlan, { workspaceId, broadcastId });
  const feeds = await feedsOf(context.feeds, { workspaceId, broadcastId, plan: sendPlan }, subject);
  return {
    group: { ...key, broadcastId, listId: listId || null, isByHand: false, tags },
    plan,
    fields: feeds.recipient ? contactFields : plan.fields,
    feeds,
  };
}

/** The request body of a recipient feed, beside the contact. */
async function subjectOf(
  { plans }: PlanContext,
  plan: SendPlan,
  { workspaceId, broadcastId }: BroadcastRequest,
): Promise<JsonObject> {
  const { name } = await plans.settings(workspaceId);
  return {
    broadcast: { id: broadcastId, name: plan.broadcastName },
    list: listOf(plan),
    workspace: { id: workspaceId, name },
  };
}

/** Null for a broadcast to segments alone. */
function listOf({ listId, listName }: SendPlan): { id: string; name: string } | null {
  return listId === '' ? null : { id: listId, name: listName };
}

function aboutBroadcast(workspaceId: string, broadcastId: string, plan: SendPlan): About {
  const list = listOf(plan);
  const utm = Object.fromEntries(Object.entries(plan.utm).filter(([, value]) => value !== ''));
  const named = Object.entries(utm).map(([name, value]) => [`utm_${name}`, value]);
  return {
    // No list has an id with a dot.
    list: list ?? { id: `segments.${workspaceId}`, name: '' },
    canBeLeft: true,
    feedbackId: [broadcastId, workspaceId, 'broadcast'],
    utm,
    isTracked: true,
    values: {
      ...Object.fromEntries(named),
      broadcast: { id: broadcastId, name: plan.broadcastName },
      list,
    },
  };
}
