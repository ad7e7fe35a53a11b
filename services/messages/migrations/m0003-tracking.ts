import { Migration } from '@mikro-orm/migrations';

export class Tracking extends Migration {
  override up(): void {
    // Where tracked links lead. The id is a digest of the addresses, so a set is written once.
    this.addSql(`
      create table link_sets (
        workspace_id text not null,
        id bytea not null,
        urls text[] not null,
        created_at timestamptz not null,
        primary key (workspace_id, id)
      )`);
    // Clicks on each link of a broadcast.
    this.addSql(`
      create table link_clicks (
        workspace_id text not null,
        broadcast_id text not null,
        template_id text not null,
        url text not null,
        clicks integer not null,
        bot_clicks integer not null,
        primary key (workspace_id, broadcast_id, template_id, url)
      )`);
    this.addSql('alter table messages add column bot_opened_at timestamptz');
    this.addSql('alter table messages add column bot_clicked_at timestamptz');
  }
}
