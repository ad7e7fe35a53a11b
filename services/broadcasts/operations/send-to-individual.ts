import { Code, ConnectError } from '@connectrpc/connect';
import { addressFault, canonicalAddress } from '#lib/address.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { refusal } from '#lib/errors/reasons.ts';
import type { Broadcast } from '../broadcast/broadcast.ts';
import { findBroadcast } from '../broadcast/queries.ts';
import type { Plan } from '../broadcast/row.ts';
import type { Context, Methods } from '../context.ts';
import {
  type PlanFeeds,
  pinGlobalFeed,
  pinnedFeeds,
  planFeeds,
  readPlanFeeds,
} from '../plan/feeds.ts';
import { type PlanParts, pinPlan, sendPlanOf } from '../plan/plan.ts';
import { checkSendable } from '../plan/sendable.ts';

/** Shorter than the deadline of the call, so that the answer can report the outcome. */
const callTimeoutMs = 20_000;

export function sendToIndividual(context: Context): Methods['sendToIndividual'] {
  return async ({ workspaceId, broadcastId, recipientEmail: given, templateId }, { signal }) => {
    const recipientEmail = canonicalAddress(given);
    if (!recipientEmail) {
      throw invalidField('recipient_email', `recipient_email: ${addressFault(given)}`);
    }
    const key = { workspaceId, id: broadcastId };
    const broadcast = await findBroadcast(context.store.fork(), key);
    const arm = armOf(broadcast, templateId);
    const { plan, feeds } = await planOf(context, broadcast);
    const parts = { ...partsOf(plan, arm), feeds, broadcastName: broadcast.name };
    const request = { workspaceId, broadcastId, plan: sendPlanOf(parts), recipientEmail };
    await present(context.sender.sendIndividual(request, { signal, timeoutMs: callTimeoutMs }));
    return { success: true };
  };
}

/** The plan pinned at the start; before that, the plan as of now. */
async function planOf(
  context: Context,
  broadcast: Broadcast,
): Promise<{ plan: Plan; feeds: PlanFeeds }> {
  const { workspace_id: workspaceId, id, plan: pinned } = broadcast;
  const em = context.store.fork();
  const sealing = { key: { workspaceId, id }, keyring: context.keyring };
  if (pinned) return { plan: pinned, feeds: await readPlanFeeds(em, sealing, pinned) };
  await checkSendable(context, broadcast);
  const basics = await present(pinPlan(context, broadcast));
  const global = await pinGlobalFeed(context, broadcast);
  if (global && 'error' in global) {
    throw refusal('FEED_FAILED', `global feed failed: ${global.error}`);
  }
  const plan = { ...basics, ...pinnedFeeds(broadcast, global) };
  return { plan, feeds: planFeeds(sealing, plan, global?.json ?? '') };
}

function armOf({ test_settings }: Broadcast, templateId: string): number {
  if (templateId === '') return 0;
  const arm = test_settings.variations.findIndex(({ template_id }) => template_id === templateId);
  if (arm < 0) throw invalidField('template_id', 'the template is none of the variations');
  return arm;
}

function partsOf(plan: Plan, arm: number): Pick<PlanParts, 'plan' | 'variation' | 'list'> {
  const variation = plan.variations[arm];
  if (!variation) throw new Error('the plan has no such variation');
  return { plan, variation, list: plan.lists[0] };
}

/** NOT_FOUND would mean the broadcast itself, but a part of it is missing. */
async function present<Answer>(call: Promise<Answer>): Promise<Answer> {
  try {
    return await call;
  } catch (error) {
    const { code, rawMessage } = ConnectError.from(error);
    if (code === Code.NotFound) throw refusal('PART_NOT_FOUND', rawMessage);
    throw error;
  }
}
