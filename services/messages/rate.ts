import { query, type Store } from '#lib/store.ts';

export type RateKey = { workspaceId: string; integrationId: string; perMinute: number };

const longestWaitMs = 1_000;

/**
 * Takes up to `wanted` permits to send, at least one unless the signal ends the wait. All replicas draw on one row
 * per integration, which holds no more than a second's worth.
 */
export async function takePermits(
  store: Store,
  key: RateKey,
  { wanted, signal }: { wanted: number; signal: AbortSignal },
): Promise<number> {
  while (!signal.aborted) {
    const granted = await draw(store, key, wanted);
    if (granted > 0) return granted;
    await pause(Math.min(longestWaitMs, 60_000 / key.perMinute), signal);
  }
  return 0;
}

/** One statement, so that replicas take turns on the row and none holds it longer. */
async function draw(store: Store, key: RateKey, wanted: number): Promise<number> {
  const perSecond = key.perMinute / 60;
  const burst = Math.max(1, perSecond);
  const filled = `least($3::float8, r.tokens + $4::float8 * extract(epoch from clock_timestamp() - r.updated_at)::float8)`;
  const [row] = await query<{ granted: number }>(
    store.fork(),
    `insert into sending_rates as r (workspace_id, integration_id, tokens, granted, updated_at)
     values ($1, $2, $3::float8 - least($5::int, floor($3::float8)), least($5::int, floor($3::float8)), clock_timestamp())
     on conflict (workspace_id, integration_id) do update set
       tokens = ${filled} - greatest(0, least($5::int, floor(${filled}))),
       granted = greatest(0, least($5::int, floor(${filled}))),
       updated_at = greatest(r.updated_at, clock_timestamp())
     returning granted`,
    [key.workspaceId, key.integrationId, burst, perSecond, wanted],
  );
  return row?.granted ?? 0;
}

/** Puts back what was not used. */
export async function returnPermits(store: Store, key: RateKey, count: number): Promise<void> {
  if (count <= 0) return;
  await query(
    store.fork(),
    'update sending_rates set tokens = tokens + $3 where workspace_id = $1 and integration_id = $2',
    [key.workspaceId, key.integrationId, count],
  );
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      done();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
  });
}
