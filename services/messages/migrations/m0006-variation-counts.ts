import { Migration } from '@mikro-orm/migrations';

export class VariationCounts extends Migration {
  override up(): void {
    // The numbers of a variation, added up as they come: to count them in messages each time reads
    // every row of a broadcast. They are spread over slots, so that parallel statements don't wait
    // for each other.
    this.addSql(`
      create table variation_counts (
        workspace_id text not null,
        broadcast_id text not null,
        template_id text not null,
        slot integer not null,
        sent integer not null default 0,
        delivered integer not null default 0,
        opened integer not null default 0,
        clicked integer not null default 0,
        bounced integer not null default 0,
        complained integer not null default 0,
        unsubscribed integer not null default 0,
        primary key (workspace_id, broadcast_id, template_id, slot)
      ) with (fillfactor = 50)`);
    this.addSql(`
      insert into variation_counts
      select workspace_id, broadcast_id, template_id, 0, count(sent_at), count(delivered_at), count(opened_at),
        count(clicked_at), count(bounced_at), count(complained_at), count(unsubscribed_at)
      from messages where broadcast_id is not null
      group by workspace_id, broadcast_id, template_id`);
  }
}
