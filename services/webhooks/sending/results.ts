import { addPush } from '#lib/events/interest-pushes.ts';
import { planTransactionByIndex } from '#lib/postgres/index-plans.ts';
import { hiddenArray, prepared } from '#lib/postgres/prepared.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager, Store } from '#lib/postgres/store.ts';
import type { CallbackAnswer } from '../callback/callback.ts';
import { retryAt } from '../callback/health.ts';
import { interests } from '../interests/interests.ts';
import { addEnding } from '../lifecycle/ending.ts';
import { addOwnerNotice } from '../lifecycle/owner-notice.ts';
import { addWakes } from '../lifecycle/wake.ts';
import { hostOf, nameOf, type SubscriptionKey } from '../subscription.ts';
import {
  type Endpoint,
  type EndpointChange,
  endpointAfter,
  type RecordedAttempt,
} from './endpoint.ts';

/** The answer to a claimed delivery. */
export type AttemptResult = {
  key: SubscriptionKey;
  id: string;
  /** The attempt that was claimed; the result counts only while it is the last one. */
  attempt: number;
  endedAt: Date;
  answer: CallbackAnswer;
};

export type Clocks = { now: () => Date; databaseTime: () => Date | undefined };

/**
 * Records outcomes of deliveries that are still as they were claimed, and the health of their
 * endpoints.
 */
export async function recordResults(
  store: Store,
  results: readonly AttemptResult[],
  clocks: Clocks,
): Promise<void> {
  const outcomes = results.map(outcomeOf);
  await store.fork().transactional(async (em) => {
    // A plan of a young table reads all deliveries for each result later.
    await planTransactionByIndex(em);
    const { endpoints, ids, aheadMs } = await writeDeliveries(em, outcomes, clocks);
    const recorded = Map.groupBy(
      outcomes.filter(({ id }) => ids.has(id)).map((each) => shifted(each, aheadMs)),
      ({ key }) => nameOf(key),
    );
    const changed = endpoints.flatMap((endpoint) => {
      const own = recorded.get(nameOf({ workspaceId: endpoint.workspace_id, id: endpoint.id }));
      return own ? [endpointAfter(endpoint, own)] : [];
    });
    await writeEndpoints(em, changed);
  });
}

type AttemptOutcome = AttemptResult &
  RecordedAttempt & { status: 'delivered' | 'pending' | 'failed' };

function outcomeOf(result: AttemptResult): AttemptOutcome {
  const { attempt, answer, endedAt } = result;
  const isSuccess = answer.error === null;
  const dueAt = isSuccess
    ? undefined
    : retryAt(attempt, { now: endedAt, retryAfterMs: answer.retryAfterMs });
  const status = isSuccess ? 'delivered' : dueAt ? 'pending' : 'failed';
  return {
    ...result,
    isSuccess,
    isOurs: answer.isOurs === true,
    isGone: answer.status === 410,
    dueAt,
    status,
  };
}

/** The times of a result by the database's clock. */
function shifted(result: AttemptOutcome, aheadMs: number): AttemptOutcome {
  const shift = (time: Date) => new Date(time.getTime() + aheadMs);
  const { endedAt, dueAt } = result;
  return { ...result, endedAt: shift(endedAt), dueAt: dueAt && shift(dueAt) };
}

// Endpoints are locked first and in one order, so that processes which record at once wait for each
// other, and never in a circle.
const deliveriesSql = prepared(`
  with endpoints as materialized (
    select s.* from (
      select distinct * from unnest(${hiddenArray('$1::text[]')}, $2::text[]) as asked (workspace_id, id) order by 1, 2
    ) asked
    cross join lateral (
      select workspace_id, id, name, url, source, enabled, disabled_reason, last_delivery_at, failures_in_row, failing_since,
        probe_at, recovered_at, next_claim_at, next_wake_at
      from subscriptions where workspace_id = asked.workspace_id and id = asked.id
      for update
    ) s
  ), clock as materialized (
    select coalesce($12::timestamptz, now()) - $11::timestamptz as ahead
  ), recorded as (
    update deliveries d set status = given.status, next_attempt_at = given.due_at + clock.ahead,
      delivered_at = case when given.status = 'delivered' then given.ended_at + clock.ahead end,
      last_response_status = given.response_status, last_response_body = given.body, last_error = given.error
    from unnest(${hiddenArray('$1::text[]')}, $3::uuid[], $4::int[], $5::text[], $6::timestamptz[], $7::timestamptz[], $8::int[],
      $9::text[], $10::text[]) as given (workspace_id, id, attempt, status, due_at, ended_at, response_status, body, error),
      clock
    where d.workspace_id = given.workspace_id and d.id = given.id and d.attempts = given.attempt and d.status = 'pending'
      and (select count(*) from endpoints) > 0
    returning d.id
  )
  select (select extract(epoch from ahead)::float8 * 1000 from clock) as ahead_ms,
    (select coalesce(json_agg(endpoints), '[]') from endpoints) as endpoints,
    (select coalesce(json_agg(id), '[]') from recorded) as ids`);

async function writeDeliveries(
  em: EntityManager,
  outcomes: readonly AttemptOutcome[],
  clocks: Clocks,
) {
  const [row] = await query<{ ahead_ms: number; endpoints: Endpoint[]; ids: string[] }>(
    em,
    deliveriesSql,
    [
      outcomes.map(({ key }) => key.workspaceId),
      outcomes.map(({ key }) => key.id),
      outcomes.map(({ id }) => id),
      outcomes.map(({ attempt }) => attempt),
      outcomes.map(({ status }) => status),
      outcomes.map(({ dueAt }) => dueAt?.toISOString() ?? null),
      outcomes.map(({ endedAt }) => endedAt.toISOString()),
      outcomes.map(({ answer }) => answer.status),
      outcomes.map(({ answer }) => answer.body),
      outcomes.map(({ answer }) => answer.error),
      clocks.now().toISOString(),
      clocks.databaseTime()?.toISOString() ?? null,
    ],
  );
  return { aheadMs: row?.ahead_ms ?? 0, endpoints: row?.endpoints ?? [], ids: new Set(row?.ids) };
}

const iso = (time: Date | null | undefined) => time?.toISOString() ?? null;

async function writeEndpoints(em: EntityManager, changes: readonly EndpointChange[]) {
  const kept = changes.filter(({ isDeleted }) => !isDeleted);
  if (kept.length > 0) await query(em, endpointsSql, valuesOf(kept));
  const woken = changes.filter(({ wakes }) => wakes);
  await addWakes(
    em,
    woken.map(({ endpoint }) => ({ key: keyOf(endpoint), host: hostOf(endpoint) })),
  );
  // Rare: an endpoint is disabled once.
  for (const change of changes) await endDeliveries(em, change);
}

const endpointsSql = prepared(`
  update subscriptions s set failures_in_row = given.failures_in_row, failing_since = given.failing_since,
    probe_at = given.probe_at, recovered_at = given.recovered_at, next_claim_at = given.next_claim_at,
    last_delivery_at = given.last_delivery_at, next_wake_at = given.next_wake_at,
    enabled = given.disabled_reason is null and s.enabled,
    disabled_reason = coalesce(given.disabled_reason, s.disabled_reason),
    updated_at = coalesce(given.disabled_at, s.updated_at)
  from unnest(${hiddenArray('$1::text[]')}, $2::text[], $3::int[], $4::timestamptz[], $5::timestamptz[], $6::timestamptz[],
    $7::timestamptz[], $8::timestamptz[], $9::timestamptz[], $10::text[], $11::timestamptz[])
    as given (workspace_id, id, failures_in_row, failing_since, probe_at, recovered_at, next_claim_at, last_delivery_at,
      next_wake_at, disabled_reason, disabled_at)
  where s.workspace_id = given.workspace_id and s.id = given.id`);

function valuesOf(changes: readonly EndpointChange[]): unknown[] {
  return [
    changes.map(({ endpoint }) => endpoint.workspace_id),
    changes.map(({ endpoint }) => endpoint.id),
    changes.map(({ health }) => health.failures_in_row),
    changes.map(({ health }) => iso(health.failing_since)),
    changes.map(({ health }) => iso(health.probe_at)),
    changes.map(({ health }) => iso(health.recovered_at)),
    changes.map(({ health }) => iso(health.next_claim_at)),
    changes.map(({ lastDeliveryAt }) => iso(lastDeliveryAt)),
    changes.map(({ nextWakeAt }) => iso(nextWakeAt)),
    changes.map(({ disabledReason }) => disabledReason),
    changes.map(({ disabledReason, at }) => (disabledReason ? iso(at) : null)),
  ];
}

const keyOf = ({ workspace_id, id }: Endpoint): SubscriptionKey => ({
  workspaceId: workspace_id,
  id,
});

/**
 * Follows up on an endpoint that the system has disabled: its types may not be wanted any more, and
 * its deliveries end.
 */
async function endDeliveries(em: EntityManager, change: EndpointChange): Promise<void> {
  const { endpoint, disabledReason, isDeleted } = change;
  if (disabledReason === null) return;
  const key = keyOf(endpoint);
  await addPush(interests, em, { workspaceId: key.workspaceId });
  if (isDeleted) {
    const values = [key.workspaceId, key.id];
    await query(em, 'delete from subscriptions where workspace_id = $1 and id = $2', values);
    await addEnding(em, 'forgetDeliveries', key);
  } else {
    await addEnding(em, 'failDeliveries', key);
    await addOwnerNotice(em, {
      key,
      name: endpoint.name,
      host: hostOf(endpoint),
      reason: disabledReason,
      disabledAt: change.at.toISOString(),
    });
  }
}
