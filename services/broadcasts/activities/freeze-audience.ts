import { heartbeat } from '@temporalio/activity';
import { TemplateCategory } from '#gen/postrider/templates/v1/templates_pb.ts';
import { type EntityManager, query } from '#lib/store.ts';
import {
  type Broadcast,
  type BroadcastKey,
  isMoving,
  type Plan,
  type TestSettings,
} from '../broadcast.ts';
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
    if (!isMoving(broadcast.status) || broadcast.frozen_at) return;
    const plan = await pinPlan(context, broadcast);
    await context.store.fork().transactional(async (em) => {
      const row = await lockBroadcast(em, key);
      if (!isMoving(row.status) || row.frozen_at) return;
      const count = await copyAudience(context, em, key, plan);
      const parts = partsOf(row.test_settings, count);
      if (parts.length > 1) await dealSample(em, key, parts, count);
      await insertSlices(em, key, { parts, first: parts.length > 1 ? count + 1 : 1, plan });
      const rest = parts.find(({ arm }) => arm === null)?.size ?? 0;
      row.plan = plan;
      row.frozen_at = context.now();
      row.enqueued_count = count;
      row.test_phase_recipient_count = count - rest;
      row.winner_phase_recipient_count = row.test_settings.enabled ? rest : 0;
      row.updated_at = context.now();
      await em.flush();
    });
  };
}

async function pinPlan(context: Context, broadcast: Broadcast): Promise<Plan> {
  const workspaceId = broadcast.workspace_id;
  const { audience, test_settings: test, utm_parameters: utm } = broadcast;
  const [contents, { list }, { settings }] = await Promise.all([
    Promise.all(
      test.variations.map(({ template_id: id }) =>
        context.templates.getTemplateContent({ workspaceId, id }),
      ),
    ),
    context.lists.getList({ workspaceId, id: audience.list }),
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

/** Recipients that get the same: an arm of the sample, or everybody else. */
type Part = { arm: number | null; size: number };

/** The sample is dealt to the arms in turn, so that none is more than one larger than another. */
function partsOf({ enabled, sample_percentage, variations }: TestSettings, count: number): Part[] {
  if (!enabled) return [{ arm: null, size: count }];
  const share = Math.max(1, Math.floor((count * sample_percentage) / 100));
  const sample = Math.min(count, share);
  const arms = variations.map((_, arm) => ({
    arm,
    size: Math.ceil((sample - arm) / variations.length),
  }));
  return [...arms, { arm: null, size: count - sample }];
}

/**
 * Puts the sample before the rest, arm by arm. Who is in it follows from a digest of broadcast and address, so
 * that neither the alphabet nor another broadcast decides.
 */
async function dealSample(
  em: EntityManager,
  { workspaceId, id }: BroadcastKey,
  parts: readonly Part[],
  count: number,
): Promise<void> {
  const arms = parts.length - 1;
  const sample = parts.reduce((sum, { arm, size }) => sum + (arm === null ? 0 : size), 0);
  await query(
    em,
    `insert into recipients (workspace_id, broadcast_id, sequence, email)
     select $1, $2, $3::int + row_number() over (
         order by dealt > $4::int, case when dealt <= $4 then (dealt - 1) % $5::int end, sequence
       ), email
     from (
       select sequence, email, row_number() over (order by sha256(convert_to($2 || email, 'UTF8'))) as dealt
       from recipients where workspace_id = $1 and broadcast_id = $2
     ) ranked`,
    [workspaceId, id, count, sample, arms],
  );
  await query(
    em,
    'delete from recipients where workspace_id = $1 and broadcast_id = $2 and sequence <= $3',
    [workspaceId, id, count],
  );
}

/** The slices of the arms take turns, so that time favours none. */
async function insertSlices(
  em: EntityManager,
  { workspaceId, id }: BroadcastKey,
  { parts, first, plan }: { parts: readonly Part[]; first: number; plan: Plan },
): Promise<void> {
  await query(
    em,
    `with part as (
       select arm, size, place,
         $3::int + sum(size) over (order by place) - size as start
       from unnest($4::int[], $5::int[]) with ordinality as given (arm, size, place)
     )
     insert into slices (workspace_id, broadcast_id, number, arm, first, last, position)
     select $1, $2, row_number() over (order by arm is null, turn, place) - 1, arm,
       start + turn, least(start + turn + $6 - 1, start + size - 1), start + turn - 1
     from part cross join lateral generate_series(0, size - 1, $6::int) as turn`,
    [
      workspaceId,
      id,
      first,
      parts.map(({ arm }) => arm),
      parts.map(({ size }) => size),
      sliceSize(plan),
    ],
  );
}
