import type { Store } from '#lib/postgres/store.ts';
import type { SubscriptionKey } from '../subscription.ts';

const endpointsMax = 2_000;

/** Jumps from endpoint to endpoint through the index of first attempts. */
const sql = `
  with recursive endpoint as (
    (
      select workspace_id, subscription_id, 1 as place from deliveries
      where status = 'pending' and attempts = 0 and (workspace_id, subscription_id) > ($1, $2)
      order by workspace_id, subscription_id
      limit 1
    )
    union all
    select next.workspace_id, next.subscription_id, endpoint.place + 1
    from endpoint cross join lateral (
      select workspace_id, subscription_id from deliveries
      where status = 'pending' and attempts = 0
        and (workspace_id, subscription_id) > (endpoint.workspace_id, endpoint.subscription_id)
      order by workspace_id, subscription_id
      limit 1
    ) next
    where endpoint.place < ${endpointsMax}
  )
  select endpoint.workspace_id, endpoint.subscription_id as id, coalesce(s.is_ready, false) as is_ready
  from endpoint left join lateral (
    select enabled and coalesce(probe_at, next_claim_at, '-infinity') <= coalesce($3::timestamptz, now()) as is_ready from subscriptions
    where workspace_id = endpoint.workspace_id and id = endpoint.subscription_id
    offset 0
  ) s on true
  order by endpoint.place`;

type EndpointRow = { workspace_id: string; id: string; is_ready: boolean };

/**
 * Endpoints with first attempts that are due now, at most `endpointsMax` at a time; the next call
 * goes on after them. Undefined starts from the beginning.
 */
export async function findEndpoints(
  store: Pick<Store, 'read'>,
  now: Date | undefined,
  after: SubscriptionKey | undefined,
): Promise<{ keys: SubscriptionKey[]; after: SubscriptionKey | undefined }> {
  const start = [after?.workspaceId ?? '', after?.id ?? '', now?.toISOString() ?? null];
  const rows = await store.read<EndpointRow>(sql, start);
  const keyOf = ({ workspace_id, id }: EndpointRow) => ({ workspaceId: workspace_id, id });
  const last = rows.length === endpointsMax ? rows.at(-1) : undefined;
  return {
    keys: rows.filter(({ is_ready }) => is_ready).map(keyOf),
    after: last && keyOf(last),
  };
}
