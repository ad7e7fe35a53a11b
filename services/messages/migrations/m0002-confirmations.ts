import { Migration } from '@mikro-orm/migrations';

export class Confirmations extends Migration {
  override up(): void {
    // The last confirmation mail to an address about a list: what the cool-down is counted from.
    this.addSql(`
      create table confirmations (
        workspace_id text not null,
        email text not null,
        list_id text not null,
        mailed_at timestamptz not null,
        primary key (workspace_id, email, list_id)
      )`);
    // Confirmation mails to send; they belong to no broadcast.
    this.addSql(`
      create index messages_due on messages (coalesce(due_at, lease_until), workspace_id, list_id)
      where broadcast_id is null and status in ('deferred', 'sending')`);
  }
}
