import { Migration } from '@mikro-orm/migrations';

export class History extends Migration {
  override up(): void {
    // Pages of the history (docs/decisions/0022). All rows of a claim have the same time: without
    // the id, PostgreSQL stores such entries once.
    this.addSql('drop index messages_newest');
    this.addSql(`create index messages_newest on messages (workspace_id, created_at desc)
      where created_at > '-infinity'`);
    this.addSql('drop index messages_broadcast');
    this.addSql(
      'create index messages_broadcast on messages (workspace_id, broadcast_id, created_at desc)',
    );
    this.addSql('drop index messages_contact');
    this.addSql(
      'create index messages_contact on messages (workspace_id, contact_email, created_at desc)',
    );
    // Few messages have these, and a row without any of them costs nothing here.
    for (const column of ['failed_at', 'bounced_at', 'complained_at', 'unsubscribed_at']) {
      this.addSql(`create index messages_${column.replace('_at', '')} on messages (workspace_id, created_at desc)
        where ${column} is not null`);
    }
    this.addSql(`create index messages_external on messages (workspace_id, external_id, created_at desc)
      where external_id is not null`);
    this.addSql(`
      alter table variation_counts
        add column failed integer not null default 0, add column skipped integer not null default 0,
        add column deferred integer not null default 0, add column unknown integer not null default 0`);
    // Broadcasts with messages that the four counts don't include yet; found by one step in the
    // index for each.
    this.addSql(`
      create table uncounted_broadcasts (
        workspace_id text not null,
        broadcast_id text not null,
        migrated_at timestamptz not null default now(),
        primary key (workspace_id, broadcast_id)
      )`);
    this.addSql(`
      insert into uncounted_broadcasts (workspace_id, broadcast_id)
      with recursive found as (
        (select workspace_id, broadcast_id from messages where broadcast_id is not null
         order by workspace_id, broadcast_id limit 1)
        union all
        select next.workspace_id, next.broadcast_id from found cross join lateral (
          select workspace_id, broadcast_id from messages
          where (workspace_id, broadcast_id) > (found.workspace_id, found.broadcast_id) and broadcast_id is not null
          order by workspace_id, broadcast_id limit 1
        ) next
      )
      select workspace_id, broadcast_id from found`);
  }
}
