import type { AdmissionTurn } from '../admission/admission.ts';
import type { IntegrationLane } from '../admission/lane.ts';
import type { LeasedPermits } from '../admission/leased-permits.ts';
import type { Outages } from '../admission/outages.ts';
import { type Permits, type RateKey, returnPermits } from '../admission/rate.ts';
import { todayOf } from '../admission/warm-up.ts';
import type { SendContext } from '../delivery/batch.ts';
import { DeliveryRun } from '../delivery/delivery.ts';
import { consentKeptMs } from '../delivery/resolve.ts';
import type { Plans } from '../plans/plans.ts';
import { giveBackUntilDone } from '../record/give-back.ts';
import { lookAgain } from '../record/queue.ts';
import { groupOf } from './plan.ts';
import type { Ready } from './prepare.ts';

export type SendNowContext = SendContext & {
  plans: Plans;
  outages: Outages;
  permits: LeasedPermits;
  /** Aborted when the process ends. */
  closing: AbortSignal;
  /** Messages wait in the queue that could go out now. */
  queued: () => void;
  /** Bytes of files that are held in memory for messages on their way. */
  held: { fileBytes: number };
};

/** Messages of a workspace that may be claimed with room to send them. */
export type Room = {
  workspaceId: string;
  claimed: readonly Ready[];
  granted?: Granted;
};

type Granted = { lane: IntegrationLane; turn: AdmissionTurn; permits: Permits; rate: RateKey };

const heldFileBytesMax = 128 * 1024 * 1024;
const retryMs = 500;

/**
 * Takes room for as many messages as may be sent at once, and marks them as claimed. Waits for
 * nothing.
 */
export async function takeRoom(
  context: SendNowContext,
  workspaceId: string,
  ready: readonly Ready[],
): Promise<Room> {
  const none = { workspaceId, claimed: [] };
  const now = fitting(
    context,
    ready.filter(({ row }) => row.status === 'deferred' && !row.dueAt),
  );
  const [first] = now;
  if (!first) return none;
  const { plan, row } = first;
  const { integrationId } = row;
  if (context.hold.reason !== '') return none;
  if (context.outages.leftMs(workspaceId, integrationId) > 0) return none;
  const lane = context.admission.lane({ workspaceId, integrationId });
  const turn = context.admission.tryEnter({ lane, size: now.length, isUrgent: true });
  if (turn.size === 0) return none;
  const rate = { workspaceId, integrationId, perMinute: plan.perMinute };
  try {
    const today = todayOf(plan.warmUp, context.now());
    const draw = { owner: context.owner, wanted: turn.size, isUrgent: true, today };
    const permits = await context.permits.take(rate, draw);
    if (permits.count === 0) {
      if (!permits.isDaySpent) lane.close(permits.waitMs, true);
      turn.leave();
      return none;
    }
    const claimed = context.underway.hold({ lane, isUrgent: true }, now.slice(0, permits.count));
    for (const each of claimed) each.row.status = 'sending';
    return { workspaceId, claimed, granted: { lane, turn, permits, rate } };
  } catch (error) {
    turn.leave();
    throw error;
  }
}

/** Those whose files may be held in memory; the others wait in the queue without them. */
function fitting({ held }: SendNowContext, ready: readonly Ready[]): Ready[] {
  let bytes = held.fileBytes;
  return ready.filter((each) => {
    bytes += fileBytes(each);
    return fileBytes(each) === 0 || bytes <= heldFileBytesMax;
  });
}

function fileBytes({ checked: { files } }: Ready): number {
  return files.reduce((sum, { content }) => sum + content.length, 0);
}

/** The rows may have been committed before the answer was lost. */
export function abandon(context: SendNowContext, { workspaceId, claimed, granted }: Room): void {
  if (!granted) return;
  granted.turn.leave();
  giveUp(context, granted, claimed.length);
  const ids = claimed.map(({ id }) => id);
  giveBackUntilDone(context, workspaceId, ids).catch((error: unknown) =>
    context.log.error({ err: error }, 'accepted messages could not be given back'),
  );
}

/** Lets go of the room of messages that were repeats. */
export function releaseUnwritten(
  context: SendNowContext,
  { claimed, granted }: Room,
  written: ReadonlyMap<string, Date>,
): void {
  if (!granted) return;
  const unwritten = claimed.filter(({ id }) => !written.has(id)).map(({ id }) => id);
  context.underway.release(unwritten);
  granted.turn.leave();
  giveUp(context, granted, granted.permits.count - claimed.length + unwritten.length);
}

/** Permits that cannot be put back are lost. */
function giveUp({ store, log }: SendNowContext, { rate, permits }: Granted, count: number): void {
  returnPermits(store, rate, count, permits.date).catch((error: unknown) =>
    log.warn({ err: error, count }, 'permits to send could not be put back'),
  );
}

/** Begins to send what was claimed and written. */
export function sendNow(
  context: SendNowContext,
  { workspaceId, claimed, granted }: Room,
  written: ReadonlyMap<string, Date>,
): void {
  if (!granted) return;
  const own = claimed.filter(({ id }) => written.has(id));
  for (const some of Map.groupBy(own, ({ plan }) => plan).values()) {
    const bytes = some.reduce((sum, each) => sum + fileBytes(each), 0);
    context.held.fileBytes += bytes;
    sendSome(context, { workspaceId, some, granted, written })
      .catch((error: unknown) =>
        context.log.error({ err: error }, 'transactional messages were not sent by their call'),
      )
      .finally(() => {
        context.held.fileBytes -= bytes;
      });
  }
}

type Some = {
  workspaceId: string;
  some: readonly Ready[];
  granted: Granted;
  written: ReadonlyMap<string, Date>;
};

async function sendSome(context: SendNowContext, given: Some): Promise<void> {
  const { workspaceId, some, granted, written } = given;
  const [first] = some;
  if (!first) return;
  const { plan, row } = first;
  const { integrationId } = row;
  const run = new DeliveryRun(context, {
    group: groupOf({ workspaceId, ...row }),
    plan,
    claimed: some.map(({ id, row: { email } }) => ({
      id,
      email,
      status: 'sending',
      attempts: 1,
      unknown: 0,
      info: '',
      createdAt: written.get(id) ?? context.now(),
      dueAt: undefined,
    })),
    contacts: new Map(some.map(({ row: { email }, contact }) => [email, contact])),
    feedsOf: () => ({}),
    extras: new Map(some.map(({ id, extras }) => [id, extras])),
    isUrgent: true,
    pool: granted.lane.pool(plan.server, granted.permits.replicas),
    startsUntilMs: Date.now() + consentKeptMs,
    stop: context.closing,
  });
  await run.done;
  granted.lane.noteRun(context.log, run);
  if (run.outage === '') context.outages.ended(workspaceId, integrationId);
  if (run.unsent.length === 0) return;
  giveUp(context, granted, run.unsent.length);
  const afterMs =
    run.outage === ''
      ? retryMs
      : context.outages.began(workspaceId, integrationId, { reason: run.outage });
  await lookAgain(context.outcomes, workspaceId, { ids: run.unsent, afterMs });
}
