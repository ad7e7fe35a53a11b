import { Migration } from '@mikro-orm/migrations';

export class BroadcastSenders extends Migration {
  override up(): void {
    // The domain of the From address of a broadcast's mails, by template. Written once for each.
    this.addSql(`
      create table broadcast_senders (
        workspace_id text not null,
        broadcast_id text not null,
        template_id text not null,
        from_domain text not null,
        primary key (workspace_id, broadcast_id, template_id)
      )`);
  }
}
