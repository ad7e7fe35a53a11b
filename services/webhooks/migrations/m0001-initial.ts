import { Migration } from '@mikro-orm/migrations';
import { consumedTable } from '#lib/events/consume.ts';
import { idempotencyTable } from '#lib/rpc/server/idempotency.ts';

export class Initial extends Migration {
  override up(): void {
    // A result of every delivery updates its subscription, so no index holds a column that results
    // change.
    this.addSql(`
      create table subscriptions (
        workspace_id text not null,
        id text not null,
        name text not null,
        url text not null,
        sealed_secret text not null,
        event_types text[] not null,
        custom_event_filters jsonb,
        list_ids text[] not null,
        segment_ids text[] not null,
        source text not null,
        enabled boolean not null,
        disabled_reason text,
        last_delivery_at timestamptz,
        failures_in_row integer not null default 0,
        failing_since timestamptz,
        probe_at timestamptz,
        recovered_at timestamptz,
        next_claim_at timestamptz,
        next_wake_at timestamptz,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        primary key (workspace_id, id)
      ) with (fillfactor = 50)`);
    this.addSql(`
      create table deliveries (
        workspace_id text not null,
        id uuid not null,
        subscription_id text not null,
        event_type text not null,
        payload json not null,
        status text not null,
        attempts smallint not null default 0,
        next_attempt_at timestamptz,
        last_attempt_at timestamptz,
        delivered_at timestamptz,
        last_response_status smallint,
        last_response_body text,
        last_error text,
        created_at timestamptz not null,
        primary key (workspace_id, id)
      ) with (fillfactor = 70)`);
    // First attempts, which the dispatcher makes, and retries, which the workflow makes.
    this.addSql(`
      create index deliveries_first on deliveries (workspace_id, subscription_id, created_at)
      where status = 'pending' and attempts = 0`);
    this.addSql(`
      create index deliveries_retries on deliveries (workspace_id, subscription_id, next_attempt_at)
      where status = 'pending' and attempts > 0`);
    // webhookSubscriptions.deliveries: newest first, of the workspace and of one subscription;
    // retention, oldest first.
    this.addSql('create index deliveries_newest on deliveries (workspace_id, created_at desc)');
    this.addSql(
      'create index deliveries_of on deliveries (workspace_id, subscription_id, created_at desc)',
    );
    // webhookSubscriptions.redeliver.
    this.addSql(`
      create index deliveries_failed on deliveries (workspace_id, created_at)
      where status = 'failed'`);
    // Held while a workspace's subscriptions change, so that interests reach producers in the order
    // of the changes.
    this.addSql(
      'create table workspace_interests (workspace_id text primary key, types text[] not null)',
    );
    this.addSql(consumedTable);
    this.addSql(idempotencyTable);
  }
}
