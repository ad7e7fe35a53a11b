import { Migration } from '@mikro-orm/migrations';

export class InboundRequests extends Migration {
  override up(): void {
    // Requests of providers that are answered, and whose reports are not in inbound_reports yet.
    this.addSql(`
      create table inbound_requests (
        workspace_id text not null,
        id uuid not null,
        integration_id text not null,
        -- The kind of the provider.
        source text not null,
        received_at timestamptz not null,
        -- How many reports it has.
        reports integer not null,
        -- Of the reports, before they are compressed.
        bytes integer not null,
        -- The reports, compressed, and sealed with a key of the workspace.
        content bytea not null,
        -- When it could not be read, or its reports not be stored. It is not tried again.
        failed_at timestamptz,
        primary key (id, workspace_id)
      )`);
    this.addSql(
      `create index inbound_requests_waiting on inbound_requests (workspace_id, received_at) include (reports)
       where failed_at is null`,
    );
    this.addSql(
      `create index inbound_requests_failed on inbound_requests (workspace_id, failed_at)
       where failed_at is not null`,
    );
  }
}
