import { Migration } from '@mikro-orm/migrations';

export class ProviderReports extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    // Reports name messages by the provider's id where they do not name ours.
    this.addSql('drop index concurrently if exists messages_provider_id');
    this.addSql(`create index concurrently if not exists messages_provider_id
      on messages (workspace_id, integration_id, provider_id) where provider_id is not null`);
    this.addSql('alter table inbound_reports add column if not exists provider_id text');
    // Whether the provider is set up to report: pending, active or removing.
    this.addSql(
      `alter table report_keys add column if not exists state text not null default 'active'`,
    );
    // The key and what the provider has answered, sealed with a key of the workspace.
    this.addSql('alter table report_keys add column if not exists sealed bytea');
    // Counts changes, so that a job ends no state that it has not seen.
    this.addSql(
      'alter table report_keys add column if not exists revision integer not null default 0',
    );
    this.addSql(
      'alter table report_keys add column if not exists attempts integer not null default 0',
    );
    // The words of the provider, or ours, for the last attempt that failed.
    this.addSql('alter table report_keys add column if not exists error text');
  }
}
