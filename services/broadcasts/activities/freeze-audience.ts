import { TemplateCategory } from '#gen/postrider/templates/v1/templates_pb.ts';
import { type Broadcast, type BroadcastKey, isMoving, listsOf, type Plan } from '../broadcast.ts';
import { findBroadcast, lockBroadcast } from '../broadcast-queries.ts';
import type { Context } from '../context.ts';
import { copyAudience } from './audience.ts';

/**
 * Pins what is sent and copies who gets it, once. A pause or cancel in between leaves nothing
 * behind; a repeat after a crash starts over.
 */
export function freezeAudience(context: Context) {
  return async (key: BroadcastKey): Promise<void> => {
    const broadcast = await findBroadcast(context.store.fork(), key);
    if (!isMoving(broadcast.status) || broadcast.frozen_at) return;
    const plan = await pinPlan(context, broadcast);
    await context.store.fork().transactional(async (em) => {
      const row = await lockBroadcast(em, key);
      if (!isMoving(row.status) || row.frozen_at) return;
      const frozen = { ...plan, schedule: row.schedule, test: row.test_settings };
      const { count, sample } = await copyAudience(context, em, { key, frozen });
      row.plan = plan;
      row.frozen_at = context.now();
      row.enqueued_count = count;
      row.test_phase_recipient_count = sample;
      row.winner_phase_recipient_count = row.test_settings.enabled ? count - sample : 0;
      row.updated_at = context.now();
      await em.flush();
    });
  };
}

async function pinPlan(context: Context, broadcast: Broadcast): Promise<Plan> {
  const workspaceId = broadcast.workspace_id;
  const { audience, test_settings: test, utm_parameters: utm } = broadcast;
  const [contents, lists, { settings }] = await Promise.all([
    Promise.all(
      test.variations.map(({ template_id: id }) =>
        context.templates.getTemplateContent({ workspaceId, id }),
      ),
    ),
    Promise.all(listsOf(audience).map((id) => context.lists.getList({ workspaceId, id }))),
    context.workspaces.getSettings({ workspaceId }),
  ]);
  const integrationId = settings?.marketingEmailProviderId ?? '';
  const { integration } = await context.workspaces.getIntegration({ workspaceId, integrationId });
  const isMarketing = contents.some(({ category }) => category === TemplateCategory.MARKETING);
  return {
    variations: test.variations.map(({ template_id }, arm) => ({
      template_id,
      template_version: contents[arm]?.version ?? 0,
    })),
    integration_id: integrationId,
    rate_limit_per_minute: integration?.emailProvider?.rateLimitPerMinute ?? 1,
    lists: lists.map(({ list }) => ({ id: list?.id ?? '', name: list?.name ?? '' })),
    include_unsubscribed: !audience.exclude_unsubscribed && !isMarketing,
    utm: Object.fromEntries(Object.entries(utm).filter(([, value]) => value !== '')),
  };
}
