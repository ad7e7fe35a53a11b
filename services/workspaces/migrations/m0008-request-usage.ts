import { Migration } from '@mikro-orm/migrations';

export class RequestUsage extends Migration {
  override up(): void {
    // Unlogged: after a crash of PostgreSQL the counts of the last minute are of no use.
    this.addSql(`
      create unlogged table request_usage (
        key text primary key,
        total bigint not null,
        reported_at timestamptz not null
      )`);
    this.addSql('create index request_usage_reported_at on request_usage (reported_at)');
  }
}
