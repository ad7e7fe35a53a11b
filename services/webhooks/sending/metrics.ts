import { atMostEvery } from '#lib/jobs/job-metrics.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { gauge, seconds } from '#lib/telemetry/metrics.ts';
import type { AttemptRecorder } from './recorder.ts';

/** Attempts by `2xx` and so on, or `no_answer`. */
export const attemptSeconds = seconds(
  'postrider_webhook_attempt_duration_seconds',
  'Attempts to deliver an event, by the class of the answer.',
  ['result'],
);

const readEveryMs = 5_000;
const countMax = 10_000;
const retriesReadMax = 100_000;

type Counts = { firsts: number; retries: number; circuits: number };

/** Measures what is due, as it stands in the database: every process has the same. */
export function measureDeliveries({
  store,
  recorder,
}: {
  store: Store;
  recorder: AttemptRecorder;
}): void {
  const read = atMostEvery(readEveryMs, () => readCounts(store));
  const due = {
    name: 'postrider_webhook_deliveries_due',
    help: `Deliveries whose time has come, by the kind of attempt; those beyond ${countMax} are not counted.`,
    labelNames: ['kind'],
  } as const;
  gauge(due, async (set) => {
    const { firsts, retries } = await read();
    set(firsts, { kind: 'first' });
    set(retries, { kind: 'retry' });
  });
  const circuits = {
    name: 'postrider_webhook_circuits_open',
    help: 'Endpoints that get only probes.',
  };
  gauge(circuits, async (set) => set((await read()).circuits));
  const unstored = { name: 'postrider_webhook_results_unstored', help: 'Results not stored yet.' };
  gauge(unstored, (set) => set(recorder.unstored));
}

async function readCounts(store: Store): Promise<Counts> {
  const [counts] = await query<Counts>(
    store.fork(),
    `select
       (select count(*)::int from (
         select from deliveries where status = 'pending' and attempts = 0 limit ${countMax}
       ) first) as firsts,
       (select count(*)::int from (
         select next_attempt_at from deliveries where status = 'pending' and attempts > 0
         limit ${retriesReadMax}
       ) retry where next_attempt_at <= now()) as retries,
       (select count(*)::int from subscriptions where enabled and probe_at is not null) as circuits`,
    [],
  );
  if (!counts) throw new Error('no counts');
  return counts;
}
