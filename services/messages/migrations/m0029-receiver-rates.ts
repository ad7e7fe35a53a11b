import { Migration } from '@mikro-orm/migrations';

export class ReceiverRates extends Migration {
  override up(): void {
    // Permits to send to groups of receivers, of integrations that deliver directly. A group that
    // is asked for rarely has no row.
    this.addSql(`
      create table receiver_rates (
        workspace_id text not null,
        integration_id text not null,
        receiver text not null,
        -- Mails a second, as the group was last asked for.
        per_second double precision not null,
        tokens double precision not null,
        -- Of the last draw: permits that it got, and those that it wanted beyond them.
        granted integer not null,
        refused integer not null,
        -- How many messages the day has taken, by the days of UTC.
        day date not null,
        day_count integer not null,
        -- When each process that sends to the group last drew permits, in Unix milliseconds.
        replicas jsonb not null,
        -- Mail that waits has its turns until then.
        queue_until timestamptz,
        -- The share of the rate that is left since the receiver last asked for less mail; it
        -- doubles at eases_at, and every step after it.
        slowed_to double precision,
        slowed_at timestamptz,
        eases_at timestamptz,
        step_ms double precision,
        updated_at timestamptz not null,
        primary key (workspace_id, integration_id, receiver)
      )`);
    // Rows that are over are deleted by their age.
    this.addSql('create index receiver_rates_old on receiver_rates (workspace_id, updated_at)');
  }
}
