import { Migration } from '@mikro-orm/migrations';

export class EndsOfSuppressions extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    // Entries that end are deleted every hour.
    this.addSql('drop index concurrently if exists suppressions_expiring');
    this.addSql(`create index concurrently if not exists suppressions_expiring
      on suppressions (workspace_id, expires_at) where expires_at is not null`);
  }
}
