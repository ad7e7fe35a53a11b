import { Migration } from '@mikro-orm/migrations';

export class MessageBodies extends Migration {
  override up(): void {
    // Mails with content of their own. Apart from requests, which the history reads, and which the
    // queue takes 200 at a time.
    this.addSql(`
      create table message_bodies (
        workspace_id text not null,
        message_id uuid not null,
        -- HTML and text as JSON, sealed with a key of the workspace.
        body bytea not null,
        -- A day after the message is done.
        erase_at timestamptz,
        primary key (message_id, workspace_id)
      )`);
    // Sealed bytes cannot be compressed.
    this.addSql('alter table message_bodies alter column body set storage external');
    this.addSql(
      'create index message_bodies_old on message_bodies (erase_at) where erase_at is not null',
    );
    // For the bytes of a workspace's bodies.
    this.addSql('create index message_bodies_workspace on message_bodies (workspace_id)');
    // Whether a message has one; null for none.
    this.addSql('alter table message_requests add column has_body boolean');
  }
}
