import { Migration } from '@mikro-orm/migrations';

export class OpenConfirmations extends Migration {
  override up(): void {
    // The queue has a table of its own: an index on what changes with every result would have each
    // result of every broadcast write all indexes of messages.
    this.addSql('drop index messages_due');
    this.addSql(`
      create table open_confirmations (
        workspace_id text not null,
        list_id text not null,
        message_id uuid not null,
        primary key (workspace_id, list_id, message_id)
      )`);
    this.addSql(`
      insert into open_confirmations
      select workspace_id, list_id, id from messages
      where broadcast_id is null and status in ('deferred', 'sending')`);
  }
}
