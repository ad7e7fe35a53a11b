/*
 * The freeze: a broadcast's audience is copied into pages, and pages are cut into slices.
 *
 * States: no plan, then pinned (content, feeds, audience named), then pages, then frozen_at. Each
 * step locks the row, commits one page or cuts one, and lets go; a repeat of the activity continues
 * behind the last commit. Slices of a list are sent while the rest is read.
 *
 * Invariants: the plan is pinned with the first page and never changes; a change of the broadcast
 * before that keeps nothing. A list or segment that is gone pauses the broadcast, and so does a
 * broadcast of `not_opened_of` that is gone or not over when the plan is pinned, or whose messages
 * are not kept any more when a page is read.
 *
 * Limits: steps and five minutes an activity; 20,000 addresses a second while mail is sent; of a
 * workspace one activity at a time, which gives way to others after two seconds, and two that ask
 * feeds. Next: the workflow calls again while `hasMore`.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { Code, ConnectError } from '@connectrpc/connect';
import { Context as Activity } from '@temporalio/activity';
import { cutParts } from '../audience/deal.ts';
import { storePage } from '../audience/freeze.ts';
import { pageReader, type RecipientPage } from '../audience/pages.ts';
import type { Broadcast, BroadcastKey } from '../broadcast/broadcast.ts';
import { findIfThere } from '../broadcast/queries.ts';
import { isMoving, isUniform, listsOf, type Plan } from '../broadcast/row.ts';
import type { Context } from '../context.ts';
import { type GlobalFeed, saveGlobalFeed } from '../feeds/global.ts';
import { takeStep } from '../lifecycle/change.ts';
import { pinGlobalFeed, pinnedFeeds } from '../plan/feeds.ts';
import { findNarrowing, pinnedFault } from '../plan/not-opened-of.ts';
import { pinPlan } from '../plan/plan.ts';
import { checkContent, missingList, missingSegment } from '../plan/sendable.ts';
import type { WorkspaceTurn, WorkspaceTurns } from '../sending/workspace-turns.ts';
import { pauseBySystem } from './pause-by-system.ts';

/**
 * Steps of one activity: what is sent meanwhile takes longer, and operators see the count after
 * each activity.
 */
const stepsMax = { beforeSending: 1, whileSending: 10, alone: 100 };
/** Half of the activity's time: pages of slow segments take seconds each. */
const readingMaxMs = 5 * 60_000;
/** While other broadcasts of the workspace wait for their turn. */
const shareMs = 2_000;
/** While mail is sent. It is ahead of any sending; all pages at once would delay urgent mail. */
const addressesPerSecond = 20_000;

/** The plan with what was pinned beside it; the first page stores it. */
type Pin = { plan: Plan; global: GlobalFeed | undefined };

/** `more`: the next activity continues. `stopped`: the broadcast has changed and is read again. */
type Progress = 'more' | 'done' | 'stopped';

/**
 * Pins the content and copies the audience in steps. Each of them commits one page, or cuts one
 * into slices, and holds the lock of the row no longer: what is committed stays, and a repeat
 * continues after it. The first page pins the plan; if the broadcast changes before it, nothing is
 * kept.
 */
export function freezeAudience(context: Context) {
  return async (key: BroadcastKey): Promise<{ hasMore: boolean }> => {
    const broadcast = await findFreezing(context, key);
    if (!broadcast) return { hasMore: false };
    try {
      return await turnsOf(context, broadcast).take(key.workspaceId, (turn) =>
        freezeMore(context, key, turn),
      );
    } catch (error) {
      const missing = await missedBy(context, broadcast, error);
      if (missing === undefined) throw error;
      await pauseBySystem(context)(key, `${missing} does not exist any more`, 'fault');
      return { hasMore: false };
    }
  };
}

/** A feed that answers late must not hold up broadcasts that ask none. */
function turnsOf({ turns }: Context, { plan, data_feed }: Broadcast): WorkspaceTurns {
  return !plan && data_feed?.global_feed?.enabled ? turns.feeds : turns.freezes;
}

/** Undefined where there is nothing to freeze, or no longer. */
async function findFreezing({ store }: Context, key: BroadcastKey): Promise<Broadcast | undefined> {
  const broadcast = await findIfThere(store.fork(), key);
  return broadcast && isMoving(broadcast.status) && !broadcast.frozen_at ? broadcast : undefined;
}

async function freezeMore(
  context: Context,
  key: BroadcastKey,
  turn: WorkspaceTurn,
): Promise<{ hasMore: boolean }> {
  // It may have changed while it waited for its turn.
  const broadcast = await findFreezing(context, key);
  if (!broadcast) return { hasMore: false };
  const beganAtMs = Date.now();
  const goesOn = () => !isCancelled() && !(turn.othersWait() && Date.now() - beganAtMs > shareMs);
  const pin = broadcast.plan ? undefined : await readPin(context, broadcast);
  const progress =
    pin && 'error' in pin ? pin : await storePages(context, broadcast, { pin, goesOn });
  if (typeof progress === 'object') {
    await pauseBySystem(context)(key, progress.error, progress.cause);
    return { hasMore: false };
  }
  const isCut = progress !== 'done' || isUniform(broadcast);
  return { hasMore: (isCut ? progress : await cutAll(context, key, goesOn)) === 'more' };
}

/**
 * The list or segment that is gone. A person may choose another: unlike other errors this one does
 * not end the broadcast.
 */
async function missedBy(
  context: Context,
  { workspace_id: workspaceId, audience, plan }: Broadcast,
  error: unknown,
): Promise<string | undefined> {
  if (ConnectError.from(error).code !== Code.NotFound) return undefined;
  const lists = plan?.lists.map(({ id }) => id) ?? listsOf(audience);
  const list = await missingList(context, workspaceId, lists);
  if (list !== undefined) return `list ${list}`;
  const segments = plan?.segments ?? audience.segments;
  const segment = await missingSegment(context, workspaceId, segments);
  return segment === undefined ? undefined : `segment ${segment}`;
}

/** A reason to pause: an outage is tried again, a fault waits for a person. */
type Obstacle = { error: string; cause: 'outage' | 'fault' };

async function readPin(context: Context, broadcast: Broadcast): Promise<Pin | Obstacle> {
  checkContent(broadcast);
  const { fault, since } = await findNarrowing(context, broadcast, 'start');
  if (fault !== undefined) return notNarrowed(fault);
  const basics = await pinPlan(context, broadcast);
  const global = await pinGlobalFeed(context, broadcast);
  if (global && 'error' in global) {
    return { error: `global feed failed: ${global.error}`, cause: 'outage' };
  }
  const narrowing = since && { not_opened_since: since.toISOString() };
  return { plan: { ...basics, ...narrowing, ...pinnedFeeds(broadcast, global) }, global };
}

const notNarrowed = (fault: string): Obstacle => ({
  error: `not_opened_of: ${fault}`,
  cause: 'fault',
});

/** Stores page after page, and reads the next one meanwhile. */
async function storePages(
  context: Context,
  broadcast: Broadcast,
  { pin, goesOn }: { pin: Pin | undefined; goesOn: () => boolean },
): Promise<Progress | Obstacle> {
  const plan = pin?.plan ?? broadcast.plan;
  const after = pin ? '' : broadcast.freeze_after;
  if (!plan || after == null) return 'done';
  const read = pageReader(context, broadcast, plan);
  let seen = broadcast;
  const untilMs = Date.now() + readingMaxMs;
  let page = await read(after);
  for (let stepsLeft = stepsOf(broadcast, pin) - 1; ; stepsLeft -= 1) {
    const lastEmail = page.nextAfterEmail;
    const hasTime = stepsLeft > 0 && Date.now() < untilMs && goesOn();
    const next = lastEmail && hasTime ? read(lastEmail) : undefined;
    // The page is stored even if the next one cannot be read.
    next?.catch(() => {});
    // Of messages that are deleted the page would leave out everybody, and the rest would be lost.
    const fault = await pinnedFault(context, broadcast.workspace_id, plan);
    if (fault !== undefined) return notNarrowed(fault);
    const row = await keepPage(context, seen, { page, pin: seen.plan ? undefined : pin });
    if (!row) return 'stopped';
    Activity.current().heartbeat({ recipients: row.enqueued_count });
    if (!next) return lastEmail ? 'more' : 'done';
    if (isUniform(broadcast)) await pauseAfter(page);
    page = await next;
    seen = row;
  }
}

function stepsOf(broadcast: Broadcast, pin: Pin | undefined): number {
  if (!isUniform(broadcast)) return stepsMax.alone;
  return pin ? stepsMax.beforeSending : stepsMax.whileSending;
}

/** Ends early if the activity is cancelled. */
async function pauseAfter({ emails }: RecipientPage): Promise<void> {
  const { cancellationSignal: signal } = Activity.current();
  const pauseMs = (emails.length / addressesPerSecond) * 1_000;
  await sleep(pauseMs, undefined, { signal }).catch(() => {});
}

function isCancelled(): boolean {
  return Activity.current().cancellationSignal.aborted;
}

type Step = { page: RecipientPage; pin: Pin | undefined };

/** Returns the row; undefined where it is no longer as it was seen. */
function keepPage(context: Context, seen: Broadcast, { page, pin }: Step) {
  const key = { workspaceId: seen.workspace_id, id: seen.id };
  return takeStep(context.store, key, async (row, em) => {
    if (!isMoving(row.status) || !continues(row, seen, pin)) return undefined;
    if (pin) row.plan = pin.plan;
    if (pin?.global) await saveGlobalFeed(em, row, pin.global);
    if (!row.plan) throw new Error('a page without a plan');
    await storePage(em, row, page, row.plan);
    row.freeze_after = page.nextAfterEmail || null;
    if (!page.nextAfterEmail && isUniform(row)) row.frozen_at = context.now();
    row.updated_at = context.now();
    return row;
  });
}

/**
 * Another worker may have stored the page, and until the plan is pinned the broadcast may have been
 * updated.
 */
function continues(row: Broadcast, seen: Broadcast, pin: Pin | undefined): boolean {
  if (pin) return !row.plan && row.revision === seen.revision;
  return row.freeze_after === seen.freeze_after && !row.frozen_at;
}

/** Cuts what was dealt, once all pages are stored. */
async function cutAll(
  context: Context,
  key: BroadcastKey,
  goesOn: () => boolean,
): Promise<Progress> {
  for (let stepsLeft = stepsMax.alone; stepsLeft > 0 && goesOn(); stepsLeft -= 1) {
    const row = await takeStep(context.store, key, async (broadcast, em) => {
      const { plan, frozen_at } = broadcast;
      if (!isMoving(broadcast.status) || !plan || frozen_at) return undefined;
      if (await cutParts(em, broadcast, plan)) return broadcast;
      broadcast.frozen_at = context.now();
      broadcast.updated_at = context.now();
      return undefined;
    });
    if (!row) return 'done';
    Activity.current().heartbeat({ recipients: row.enqueued_count });
  }
  return 'more';
}
