import {
  afterFailure,
  afterOurFailure,
  afterSuccess,
  type EndpointHealth,
  failingReason,
  goneReason,
  isGivenUp,
} from '../callback/health.ts';

/** The row of a subscription, locked; times as PostgreSQL writes them in JSON. */
export type Endpoint = {
  workspace_id: string;
  id: string;
  name: string;
  url: string;
  source: string;
  enabled: boolean;
  last_delivery_at: string | null;
  failures_in_row: number;
  failing_since: string | null;
  probe_at: string | null;
  recovered_at: string | null;
  next_claim_at: string | null;
  next_wake_at: string | null;
};

/** The outcome of one attempt. */
export type RecordedAttempt = {
  endedAt: Date;
  isSuccess: boolean;
  /** Whether a failure was trouble of ours. */
  isOurs: boolean;
  /** Whether the endpoint said that it is gone for ever. */
  isGone: boolean;
  /** When it is tried again. */
  dueAt: Date | undefined;
};

export type EndpointChange = {
  endpoint: Endpoint;
  at: Date;
  health: EndpointHealth;
  lastDeliveryAt: Date | null;
  nextWakeAt: Date | null;
  /** Whether its run must look at its row now. */
  wakes: boolean;
  /** Why it is disabled now; null if it is not. */
  disabledReason: string | null;
  /** Deleted where others would be disabled. */
  isDeleted: boolean;
};

const timeOf = (text: string | null) => (text === null ? null : new Date(text));

/** The changes of an endpoint's row by the results of its deliveries. */
export function endpointAfter(
  endpoint: Endpoint,
  results: readonly RecordedAttempt[],
): EndpointChange {
  const inOrder = results.toSorted((a, b) => a.endedAt.getTime() - b.endedAt.getTime());
  const health = inOrder.reduce((before, { isSuccess, isOurs, endedAt }) => {
    if (isSuccess) return afterSuccess(before, endedAt);
    return isOurs ? afterOurFailure(before, endedAt) : afterFailure(before, endedAt);
  }, healthOf(endpoint));
  const at = inOrder.at(-1)!.endedAt;
  const isGone = inOrder.some((result) => result.isGone);
  const disabledReason = endpoint.enabled ? reasonToDisable(health, { isGone, at }) : null;
  const lastSuccess = inOrder.findLast(({ isSuccess }) => isSuccess)?.endedAt;
  const wake = wakeAfter(endpoint, { health, results, isEnding: disabledReason !== null });
  return {
    endpoint,
    at,
    health,
    lastDeliveryAt: lastSuccess ?? timeOf(endpoint.last_delivery_at),
    ...wake,
    disabledReason,
    isDeleted: disabledReason === goneReason && endpoint.source === 'zapier',
  };
}

function healthOf(endpoint: Endpoint): EndpointHealth {
  return {
    failures_in_row: endpoint.failures_in_row,
    failing_since: timeOf(endpoint.failing_since),
    probe_at: timeOf(endpoint.probe_at),
    recovered_at: timeOf(endpoint.recovered_at),
    next_claim_at: timeOf(endpoint.next_claim_at),
  };
}

function reasonToDisable(health: EndpointHealth, { isGone, at }: { isGone: boolean; at: Date }) {
  if (isGone) return goneReason;
  return isGivenUp(health, at) ? failingReason : null;
}

/** A run is woken only for a retry that is due before it would look, or to end. */
function wakeAfter(
  { enabled, next_wake_at }: Endpoint,
  {
    health,
    results,
    isEnding,
  }: { health: EndpointHealth; results: readonly RecordedAttempt[]; isEnding: boolean },
): { nextWakeAt: Date | null; wakes: boolean } {
  const known = timeOf(next_wake_at);
  if (isEnding) return { nextWakeAt: known, wakes: known !== null };
  const dueMs = results.flatMap(({ dueAt }) => (dueAt ? [dueAt.getTime()] : []));
  if (dueMs.length === 0 || !enabled) return { nextWakeAt: known, wakes: false };
  const nextAt = new Date(Math.max(Math.min(...dueMs), health.probe_at?.getTime() ?? 0));
  if (known && known <= nextAt) return { nextWakeAt: known, wakes: false };
  return { nextWakeAt: nextAt, wakes: true };
}
