import { Migration } from '@mikro-orm/migrations';

export class PostponedChanges extends Migration {
  override up(): void {
    // Contacts that segments which ask messages have to look at when messages answers again.
    this.addSql(`
      create table postponed_changes (
        workspace_id text not null,
        email text collate "C" not null,
        touched text[] not null,
        primary key (workspace_id, email)
      )`);
  }
}
