import { Migration } from '@mikro-orm/migrations';

export class DataFeeds extends Migration {
  override up(): void {
    this.addSql(`
      alter table broadcasts
        add column data_feed jsonb,
        add column global_feed_fetched_at timestamptz`);
    // The answer of the global feed; text, because jsonb can't store all of JSON.
    this.addSql(`
      create table global_feeds (
        workspace_id text not null,
        broadcast_id text not null,
        json text not null,
        primary key (workspace_id, broadcast_id)
      )`);
  }
}
