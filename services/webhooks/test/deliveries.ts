import { setTimeout as sleep } from 'node:timers/promises';
import { query } from '#lib/postgres/query.ts';
import { payloadSql } from '../delivery.ts';
import type { Given } from './given.ts';

export type StoredDelivery = {
  id: string;
  subscription_id: string;
  event_type: string;
  payload: unknown;
  status: string;
  attempts: number;
  next_attempt_at: Date | null;
  delivered_at: Date | null;
  last_response_status: number | null;
  last_response_body: string | null;
  last_error: string | null;
};

const dated = <Row>(row: Row): Row =>
  Object.fromEntries(
    Object.entries(row as object).map(([name, value]) => [
      name,
      /_(at|since)$/.test(name) && typeof value === 'string' ? new Date(value) : value,
    ]),
  ) as Row;

/** The deliveries of a workspace, oldest first. */
export async function deliveriesOf(
  { context }: Given,
  workspaceId: string,
): Promise<StoredDelivery[]> {
  const rows = await query<StoredDelivery>(
    context.store.fork(),
    `select delivery.*, ${payloadSql('delivery')} as payload from deliveries delivery
     where workspace_id = $1 order by created_at, id`,
    [workspaceId],
  );
  return rows.map(dated);
}

/** How many events a workspace has. */
export async function countEvents({ context }: Given, workspaceId: string): Promise<number> {
  const [row] = await query<{ count: number }>(
    context.store.fork(),
    'select count(*)::int as count from events where workspace_id = $1',
    [workspaceId],
  );
  return row?.count ?? 0;
}

export type EndpointRow = {
  enabled: boolean;
  disabled_reason: string | null;
  failures_in_row: number;
  failing_since: Date | null;
  probe_at: Date | null;
  recovered_at: Date | null;
  next_claim_at: Date | null;
  next_wake_at: Date | null;
  last_delivery_at: Date | null;
};

export async function endpointOf({ context }: Given, id: string): Promise<EndpointRow | undefined> {
  const [row] = await query<EndpointRow>(
    context.store.fork(),
    'select * from subscriptions where id = $1',
    [id],
  );
  return row && dated(row);
}

export async function setEndpoint(
  { context }: Given,
  id: string,
  over: Partial<EndpointRow>,
): Promise<void> {
  const names = Object.keys(over);
  const sets = names.map((name, place) => `${name} = $${place + 2}`);
  await query(context.store.fork(), `update subscriptions set ${sets} where id = $1`, [
    id,
    ...Object.values(over),
  ]);
}

/** Sends events as a producer does, in one batch. */
export async function sendEvents(
  { events }: Given,
  workspaceId: string,
  data: readonly object[],
  { type = 'contact.created', batchId = crypto.randomUUID() } = {},
): Promise<void> {
  const batch = data.map((each) => ({ type, dataJson: JSON.stringify(each) }));
  await events.consumeEvents({ workspaceId, batchId, events: batch });
}

/** Waits until something is true; the test's own time limit ends it. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await sleep(5);
}
