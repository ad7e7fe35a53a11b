import { Migration } from '@mikro-orm/migrations';

export class WatchCursor extends Migration {
  override up(): void {
    // The live row that the watch looked at last; none before its first look, and when it begins
    // anew.
    this.addSql('create table watch_cursor (workspace_id text not null, id text not null)');
    // The watch takes live rows in the order of their keys.
    this.addSql(`
      create index broadcasts_live_by_key on broadcasts (workspace_id, id)
      where status not in ('draft', 'sent', 'cancelled', 'failed')`);
    this.addSql('drop index broadcasts_live');
  }
}
