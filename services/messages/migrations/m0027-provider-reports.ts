import { Migration } from '@mikro-orm/migrations';

export class ProviderReports extends Migration {
  override up(): void {
    // The provider's id of a message, for a report without ours.
    this.addSql('alter table inbound_reports add column provider_id text');
    // Whether the provider is set up to report: pending, active or removing.
    this.addSql(`alter table report_keys add column state text not null default 'active'`);
    // The key and what the provider has answered, sealed with a key of the workspace.
    this.addSql('alter table report_keys add column sealed bytea');
    // Counts changes, so that a job ends no state that it has not seen.
    this.addSql('alter table report_keys add column revision integer not null default 0');
    this.addSql('alter table report_keys add column attempts integer not null default 0');
    // The words of the provider, or ours, for the last attempt that failed.
    this.addSql('alter table report_keys add column error text');
  }
}
