import type { EntityManager } from '#lib/postgres/store.ts';
import { copyAudience } from '../audience/freeze.ts';
import type { Broadcast, BroadcastKey } from '../broadcast.ts';
import { findIfThere } from '../broadcast-queries.ts';
import { isMoving, type Plan } from '../broadcast-row.ts';
import type { Context } from '../context.ts';
import { saveGlobalFeed } from '../feeds/global.ts';
import { takeStep } from '../lifecycle/change.ts';
import { pinGlobalFeed, pinnedFeeds } from '../plan/feeds.ts';
import { pinPlan } from '../plan/plan.ts';
import { checkContent } from '../plan/sendable.ts';
import { pauseBySystem } from './pause-by-system.ts';

/**
 * Pins the content and copies the audience, once. If the broadcast changes meanwhile, nothing is kept and the row is
 * read again; a repeat after a crash starts over.
 */
export function freezeAudience(context: Context) {
  return async (key: BroadcastKey): Promise<void> => {
    const broadcast = await findIfThere(context.store.fork(), key);
    if (!broadcast || !isMoving(broadcast.status) || broadcast.frozen_at) return;
    checkContent(broadcast);
    const basics = await pinPlan(context, broadcast);
    const global = await pinGlobalFeed(context, broadcast);
    if (global && 'error' in global) {
      return pauseBySystem(context)(key, `global feed failed: ${global.error}`, 'outage');
    }
    const plan = { ...basics, ...pinnedFeeds(broadcast, global) };
    await takeStep(context.store, key, async (row, em) => {
      if (row.revision !== broadcast.revision || row.frozen_at) return;
      if (global) await saveGlobalFeed(em, row, global);
      await freeze(context, em, { row, plan });
    });
  };
}

async function freeze(
  context: Context,
  em: EntityManager,
  { row, plan }: { row: Broadcast; plan: Plan },
): Promise<void> {
  const key = { workspaceId: row.workspace_id, id: row.id };
  const frozen = { ...plan, schedule: row.schedule, test: row.test_settings };
  const { count, sample } = await copyAudience(context, em, { key, frozen });
  row.plan = plan;
  row.frozen_at = context.now();
  row.enqueued_count = count;
  row.test_phase_recipient_count = sample;
  row.winner_phase_recipient_count = row.test_settings.enabled ? count - sample : 0;
  row.updated_at = context.now();
}
