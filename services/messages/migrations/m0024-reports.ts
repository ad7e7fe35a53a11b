import { Migration } from '@mikro-orm/migrations';

export class Reports extends Migration {
  override up(): void {
    // Returned although the address is not dead; its words and class, or those of the bounce.
    this.addSql('alter table messages add column soft_bounced_at timestamptz');
    this.addSql('alter table messages add column bounce_class text');
    this.addSql('alter table messages add column diagnostic text');
    this.addSql('alter table variation_counts add column soft_bounced integer not null default 0');
    // When the entry ends by itself; null if it does not.
    this.addSql('alter table suppressions add column expires_at timestamptz');
    // Reports of providers. `due_at` is when a report is applied; null once it is done.
    this.addSql(`
      create table inbound_reports (
        workspace_id text not null,
        integration_id text not null,
        event_key text not null,
        id uuid not null,
        source text not null,
        state text not null,
        type text not null,
        class text,
        -- Of the report on its message; null for none.
        effect text,
        message_id uuid,
        email text not null,
        occurred_at timestamptz not null,
        category text,
        diagnostic text,
        complaint_type text,
        -- As it came, sealed with a key of the workspace.
        raw bytea,
        received_at timestamptz not null,
        due_at timestamptz,
        primary key (id, workspace_id)
      ) with (fillfactor = 80)`);
    this.addSql(
      'create unique index inbound_reports_once on inbound_reports (workspace_id, integration_id, event_key)',
    );
    this.addSql(
      'create index inbound_reports_due on inbound_reports (workspace_id, due_at) where due_at is not null',
    );
    this.addSql(
      'create index inbound_reports_newest on inbound_reports (workspace_id, occurred_at desc, id desc)',
    );
    this.addSql(
      'create index inbound_reports_type on inbound_reports (workspace_id, type, occurred_at desc, id desc)',
    );
    this.addSql(
      'create index inbound_reports_email on inbound_reports (workspace_id, email, occurred_at desc, id desc)',
    );
    this.addSql(
      'create index inbound_reports_message on inbound_reports (workspace_id, message_id) where message_id is not null',
    );
    this.addSql('create index inbound_reports_old on inbound_reports (workspace_id, received_at)');
    // Digests of the keys in the URLs at which reports are taken.
    this.addSql(`
      create table report_keys (
        workspace_id text not null,
        integration_id text not null,
        digest bytea not null,
        earlier_digest bytea,
        earlier_until timestamptz,
        types text[] not null,
        created_at timestamptz not null,
        primary key (workspace_id, integration_id)
      )`);
  }
}
