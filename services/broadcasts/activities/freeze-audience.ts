import { heartbeat } from '@temporalio/activity';
import { TemplateCategory } from '#gen/postrider/templates/v1/templates_pb.ts';
import { type EntityManager, query } from '#lib/store.ts';
import type { Broadcast, BroadcastKey, Plan } from '../broadcast.ts';
import { findBroadcast, lockBroadcast } from '../broadcast-queries.ts';
import type { Context } from '../context.ts';

const pageSize = 10_000;
const sliceSizeMax = 5_000;

/**
 * Pins what is sent and copies who gets it, once. A pause or cancel in between leaves nothing
 * behind; a repeat after a crash starts over.
 */
export function freezeAudience(context: Context) {
  return async (key: BroadcastKey): Promise<void> => {
    const broadcast = await findBroadcast(context.store.fork(), key);
    if (broadcast.status !== 'sending' || broadcast.frozen_at) return;
    const plan = await pinPlan(context, broadcast);
    await context.store.fork().transactional(async (em) => {
      const row = await lockBroadcast(em, key);
      if (row.status !== 'sending' || row.frozen_at) return;
      const count = await copyAudience(context, em, key, plan);
      await insertSlices(em, key, count, sliceSize(plan));
      row.plan = plan;
      row.frozen_at = context.now();
      row.enqueued_count = count;
      row.updated_at = context.now();
      await em.flush();
    });
  };
}

async function pinPlan(context: Context, broadcast: Broadcast): Promise<Plan> {
  const workspaceId = broadcast.workspace_id;
  const { audience, test_settings: test, utm_parameters: utm } = broadcast;
  const templateId = test.variations[0]?.template_id ?? '';
  const [content, { list }, { settings }] = await Promise.all([
    context.templates.getTemplateContent({ workspaceId, id: templateId }),
    context.lists.getList({ workspaceId, id: audience.list }),
    context.workspaces.getSettings({ workspaceId }),
  ]);
  const integrationId = settings?.marketingEmailProviderId ?? '';
  const { integration } = await context.workspaces.getIntegration({ workspaceId, integrationId });
  const isMarketing = content.category === TemplateCategory.MARKETING;
  return {
    template_id: templateId,
    template_version: content.version,
    integration_id: integrationId,
    rate_limit_per_minute: integration?.emailProvider?.rateLimitPerMinute ?? 1,
    list_id: audience.list,
    list_name: list?.name ?? '',
    include_unsubscribed: !audience.exclude_unsubscribed && !isMarketing,
    utm: Object.fromEntries(Object.entries(utm).filter(([, value]) => value !== '')),
  };
}

/** At most a minute of sending, so that an activity ends and its result is seen. */
function sliceSize({ rate_limit_per_minute: rate }: Plan): number {
  return Math.max(1, Math.min(sliceSizeMax, rate));
}

async function copyAudience(
  { audience }: Context,
  em: EntityManager,
  { workspaceId, id }: BroadcastKey,
  plan: Plan,
): Promise<number> {
  let count = 0;
  let afterEmail = '';
  for (;;) {
    const { emails } = await audience.listAudience({
      workspaceId,
      listId: plan.list_id,
      includeUnsubscribed: plan.include_unsubscribed,
      afterEmail,
      pageSize,
    });
    await query(
      em,
      `insert into recipients (workspace_id, broadcast_id, sequence, email)
       select $1, $2, $3::int + ordinality, email
       from unnest($4::text[]) with ordinality as page (email, ordinality)`,
      [workspaceId, id, count, emails],
    );
    count += emails.length;
    heartbeat({ recipients: count });
    if (emails.length < pageSize) return count;
    afterEmail = emails.at(-1) ?? '';
  }
}

async function insertSlices(
  em: EntityManager,
  { workspaceId, id }: BroadcastKey,
  count: number,
  size: number,
): Promise<void> {
  await query(
    em,
    `insert into slices (workspace_id, broadcast_id, number, first, last, position)
     select $1, $2, (first - 1) / $4, first, least(first + $4 - 1, $3), first - 1
     from generate_series(1, $3::int, $4::int) as first`,
    [workspaceId, id, count, size],
  );
}
