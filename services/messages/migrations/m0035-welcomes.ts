import { Migration } from '@mikro-orm/migrations';

export class Welcomes extends Migration {
  override up(): void {
    // Welcome mails, one row for each contact and list: `due_at` while one is to be sent, `done_at`
    // afterwards, for as long as a return counts as the same membership.
    this.addSql(`
      create table welcomes (
        workspace_id text not null,
        email text not null,
        list_id text not null,
        -- Marks the period of the membership, as contacts keeps it.
        active_since timestamptz not null,
        -- When that began, by the clock that orders the changes of a contact.
        happened_at timestamptz not null,
        is_import boolean not null,
        message_id uuid not null,
        -- The period for which the message was made; an earlier one where a later period took over.
        message_since timestamptz not null,
        due_at timestamptz,
        done_at timestamptz,
        primary key (workspace_id, email, list_id)
      )`);
    // The queue of a list, imports last, and the count for the quota.
    this.addSql(`create index welcomes_due on welcomes (workspace_id, list_id, is_import, due_at)
      where due_at is not null`);
    // Retention.
    this.addSql('create index welcomes_done on welcomes (done_at) where done_at is not null');
  }
}
