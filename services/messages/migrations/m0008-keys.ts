import { Migration } from '@mikro-orm/migrations';

export class Keys extends Migration {
  override up(): void {
    // Ids differ in their first bytes and workspaces hardly at all, so a look by id first compares
    // once.
    this.addSql('alter table messages drop constraint messages_pkey');
    this.addSql('alter table messages add primary key (id, workspace_id)');
    // A row is written as claimed, and soon again with its result: with room for both on the page,
    // no index changes.
    this.addSql('alter table messages set (fillfactor = 50)');
    // The condition, which only pages state, keeps PostgreSQL 18 from looking ids up in an index of
    // times.
    this.addSql('drop index messages_newest');
    this.addSql(`create index messages_newest on messages (workspace_id, created_at desc, id desc)
      where created_at > '-infinity'`);
  }
}
