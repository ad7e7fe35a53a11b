import type { WarmUp } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { Hold } from '../hold/hold.ts';
import type { Admission, AdmissionTurn } from './admission.ts';
import type { IntegrationLane, LaneKey } from './lane.ts';
import type { LeasedPermits } from './leased-permits.ts';
import type { Outages } from './outages.ts';
import type { RateKey } from './rate.ts';
import { todayOf } from './warm-up.ts';

export type AdmitContext = {
  admission: Admission;
  permits: LeasedPermits;
  outages: Outages;
  hold: Pick<Hold, 'reason'>;
  owner: string;
  now: () => Date;
};

export type AdmitInput = LaneKey & {
  plan: { perMinute: number; warmUp: WarmUp | undefined };
  wanted: number;
  /** Single and transactional mail, which comes before bulk. */
  isUrgent: boolean;
  /**
   * Nothing is tried while the integration waits after an outage. Absent where a caller waits by
   * itself.
   */
  waitsOutOutages?: boolean;
  /** Waits its turn until this is aborted. Waits for nothing if absent. */
  stop?: AbortSignal;
};

/** Why nothing can be sent now, and until when if anybody knows. */
export type Outage = { reason: string; endsAt?: Date };

/** Room and permits for messages of an integration. */
export type Grant = {
  lane: IntegrationLane;
  isUrgent: boolean;
  waitsOutOutages: boolean;
  /** How many messages may be claimed: one at least. */
  count: number;
  /** Messages a minute that this process may send. */
  perMinute: number;
  /** Gives up the room that is not held by then. */
  leave(): void;
  /** Puts back permits that are not used. Never rejects. */
  giveBack(count: number): Promise<void>;
};

/**
 * Room, or why there is none: an outage, a time after which to ask again, or, without both, to be
 * asked again at once.
 */
export type Admitted = { grant: Grant } | { outage?: Outage; retryAfterMs?: number };

/**
 * Asks whether messages of an integration may be sent now, in this order: the hold of the
 * installation, the wait after an outage, the turn in the process (room of the lane, fairness
 * between workspaces), then the rate limit and the warm-up, which all replicas share.
 */
export async function admit(context: AdmitContext, input: AdmitInput): Promise<Admitted> {
  const { admission, hold, outages } = context;
  if (hold.reason !== '') return { outage: { reason: hold.reason } };
  const { workspaceId, integrationId, wanted: size, isUrgent, stop } = input;
  if (input.waitsOutOutages && outages.leftMs(workspaceId, integrationId) > 0) {
    return { outage: { reason: outages.reasonOf(workspaceId, integrationId) } };
  }
  const lane = admission.lane({ workspaceId, integrationId });
  const turn = stop
    ? await admission.enter({ lane, size, isUrgent, signal: stop })
    : admission.tryEnter({ lane, size, isUrgent });
  if (turn.size === 0) return { retryAfterMs: turn.retryAfterMs };
  try {
    const admitted = await drawPermits(context, input, { lane, turn });
    if (!('grant' in admitted)) turn.leave();
    return admitted;
  } catch (error) {
    turn.leave();
    throw error;
  }
}

async function drawPermits(
  { permits, owner, now }: AdmitContext,
  { workspaceId, integrationId, plan, isUrgent, waitsOutOutages = false }: AdmitInput,
  { lane, turn }: { lane: IntegrationLane; turn: AdmissionTurn },
): Promise<Admitted> {
  const rate: RateKey = { workspaceId, integrationId, perMinute: plan.perMinute };
  const today = todayOf(plan.warmUp, now());
  const drawn = await permits.take(rate, { owner, wanted: turn.size, isUrgent, today });
  const { count, date } = drawn;
  if (drawn.isDaySpent) {
    const reason = `warm-up limit of ${today.limit} messages a day reached`;
    return { outage: { reason, endsAt: today.endsAt } };
  }
  if (count === 0) {
    lane.close(drawn.waitMs, isUrgent);
    return {};
  }
  return {
    grant: {
      ...{ lane, isUrgent, waitsOutOutages, count },
      perMinute: plan.perMinute / drawn.replicas,
      leave: turn.leave,
      giveBack: (unused) => permits.giveBack(rate, unused, date),
    },
  };
}
