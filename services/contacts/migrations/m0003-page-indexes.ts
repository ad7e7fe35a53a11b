import { Migration } from '@mikro-orm/migrations';

export class PageIndexes extends Migration {
  override up(): void {
    // PostgreSQL 18 can look an address up in an index of times, by a step for each time in it, and
    // does so while it has no statistics. The condition, which only pages state, keeps everybody
    // else out.
    this.addSql('drop index contacts_newest');
    this.addSql(`create index contacts_newest on contacts (workspace_id, created_at desc, email)
      where created_at > '-infinity'`);
    this.addSql('drop index memberships_newest');
    this.addSql(`create index memberships_newest on memberships (workspace_id, list_id, created_at desc, email)
      where deleted_at is null and created_at > '-infinity'`);
  }
}
