import { Migration } from '@mikro-orm/migrations';

export class Tags extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    // Null for none.
    this.addSql('alter table notifications add column if not exists tags jsonb');
    this.addSql('alter table messages add column if not exists tags text[]');
    // Pages of the history by tag. A message without tags costs nothing here.
    this.addSql('drop index concurrently if exists messages_tagged');
    this.addSql(`create index concurrently if not exists messages_tagged
      on messages (workspace_id, created_at desc) where tags is not null`);
  }
}
