import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import type { TestStack } from '../stack.ts';
import { good } from './given.ts';

export type Subscription = { id: string; url: string; secret: string; enabled: boolean };
export async function subscribe(
  { call, workspaceId }: TestStack,
  url: string,
  eventTypes: readonly string[],
): Promise<Subscription> {
  const body = { workspace_id: workspaceId, name: 'CRM', url, event_types: eventTypes };
  return good(await call('webhookSubscriptions.create', body)).subscription;
}

export async function deleteWebhook(
  { call, workspaceId }: TestStack,
  { id }: Pick<Subscription, 'id'>,
): Promise<void> {
  good(await call('webhookSubscriptions.delete', { workspace_id: workspaceId, id }));
}

/** As the superuser. */
export async function queryStack<Row extends pg.QueryResultRow>(
  { databaseUrl }: TestStack,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query<Row>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}

export type Deliveries = { total: number; pending: number; delivered: number };

export async function countDeliveries(stack: TestStack, id: string): Promise<Deliveries> {
  const [row] = await queryStack<Deliveries>(
    stack,
    `select count(*)::int as total, (count(*) filter (where status = 'pending'))::int as pending,
       (count(*) filter (where status = 'delivered'))::int as delivered
     from webhooks.deliveries where subscription_id = $1`,
    [id],
  );
  return row ?? { total: 0, pending: 0, delivered: 0 };
}

/** The status of the run of a subscription; undefined if there never was one. */
export async function webhookRun(
  { settings, workspaceId }: TestStack,
  id: string,
): Promise<string | undefined> {
  const connection = await Connection.connect({ address: settings.TEMPORAL_ADDRESS ?? '' });
  try {
    const { workflow } = new Client({ connection });
    const run = await workflow.getHandle(`webhook/${workspaceId}/${id}`).describe();
    return run.status.name;
  } catch {
    return undefined;
  } finally {
    await connection.close();
  }
}

/**
 * Lets hours pass for a subscription: its retries and the probe of its circuit are due, and its run
 * looks.
 */
export async function passHours(
  stack: TestStack,
  { id }: Pick<Subscription, 'id'>,
  hours: number,
): Promise<void> {
  const past = `interval '${hours} hours'`;
  await queryStack(
    stack,
    `with earlier as (
       update webhooks.deliveries set next_attempt_at = next_attempt_at - ${past},
         last_attempt_at = last_attempt_at - ${past}, created_at = created_at - ${past}
       where subscription_id = $1 and status = 'pending'
     )
     update webhooks.subscriptions set probe_at = probe_at - ${past}, failing_since = failing_since - ${past},
       next_wake_at = next_wake_at - ${past}
     where id = $1`,
    [id],
  );
  const connection = await Connection.connect({ address: stack.settings.TEMPORAL_ADDRESS ?? '' });
  try {
    const { workflow } = new Client({ connection });
    await workflow.getHandle(`webhook/${stack.workspaceId}/${id}`).signal('changed');
  } finally {
    await connection.close();
  }
}
