import { Migration } from '@mikro-orm/migrations';

export class ExternalIds extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    // A look for an external id begins with it, so that no plan of a young table finds it by the
    // workspace alone.
    this.addSql('drop index concurrently if exists messages_external_first');
    this.addSql(`create unique index concurrently if not exists messages_external_first
      on messages (external_id, workspace_id)
      where external_id is not null and (failed_at is null or bounced_at is not null)`);
  }
}
