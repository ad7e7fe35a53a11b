import type { MessageInitShape } from '@bufbuild/protobuf';
import type { SendPlanSchema } from '#gen/postrider/messages/v1/messages_pb.ts';
import { TemplateCategory } from '#gen/postrider/templates/v1/templates_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { camelKeys } from '#lib/json/camel-keys.ts';
import type { Broadcast } from '../broadcast/broadcast.ts';
import { listsOf, type Plan } from '../broadcast/row.ts';
import type { Peers } from '../peers.ts';
import type { PlanFeeds } from './feeds.ts';
import { noProviderText, providerOf } from './provider.ts';

/**
 * The content for some recipients: a variation of the plan, and one of its lists, if it has any.
 */
export type PlanParts = {
  plan: Plan;
  variation: Plan['variations'][number];
  list: Plan['lists'][number] | undefined;
  broadcastName: string;
  feeds: PlanFeeds;
};

/** The plan as the messages service expects it. */
export function sendPlanOf({
  plan,
  variation,
  list,
  broadcastName,
  feeds,
}: PlanParts): MessageInitShape<typeof SendPlanSchema> {
  return {
    ...camelKeys(variation),
    integrationId: plan.integration_id,
    listId: list?.id ?? '',
    listName: list?.name ?? '',
    broadcastName,
    includeUnsubscribed: plan.include_unsubscribed,
    utm: plan.utm,
    tags: plan.tags ?? [],
    ...feeds,
  };
}

/** The plan as of now: templates, names of lists and integration as they are at this moment. */
export async function pinPlan(
  context: Pick<Peers, 'templates' | 'lists' | 'workspaces'>,
  broadcast: Broadcast,
): Promise<Plan> {
  const workspaceId = broadcast.workspace_id;
  const { audience, test_settings: test, utm_parameters: utm } = broadcast;
  const [contents, lists, provider] = await Promise.all([
    Promise.all(
      test.variations.map(({ template_id: id }) =>
        context.templates.getTemplateContent({ workspaceId, id }),
      ),
    ),
    Promise.all(listsOf(audience).map((id) => context.lists.getList({ workspaceId, id }))),
    providerOf(context, broadcast),
  ]);
  if (!provider) throw invalidField('workspace_id', noProviderText);
  const isMarketing = contents.some(({ category }) => category === TemplateCategory.MARKETING);
  return {
    variations: test.variations.map(({ template_id }, arm) => ({
      template_id,
      template_version: contents[arm]?.version ?? 0,
    })),
    integration_id: provider.integrationId,
    rate_limit_per_minute: provider.ratePerMinute,
    lists: lists.map(({ list }) => ({ id: list?.id ?? '', name: list?.name ?? '' })),
    segments: audience.segments,
    ...(audience.not_opened_of !== undefined && { not_opened_of: audience.not_opened_of }),
    include_unsubscribed: lists.length > 0 && !audience.exclude_unsubscribed && !isMarketing,
    utm: Object.fromEntries(Object.entries(utm).filter(([, value]) => value !== '')),
    ...(broadcast.tags && { tags: broadcast.tags }),
  };
}
