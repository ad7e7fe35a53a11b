import { Migration } from '@mikro-orm/migrations';
import { idempotencyTable } from '#lib/rpc/server/idempotency.ts';

export class Transactional extends Migration {
  override up(): void {
    this.addSql(idempotencyTable);
    this.addSql(`
      create table notifications (
        workspace_id text not null,
        id text not null,
        name text not null,
        description text not null,
        channels jsonb not null,
        tracking_settings jsonb not null,
        metadata jsonb,
        integration_id text not null,
        send_to_bounced boolean not null,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        primary key (workspace_id, id)
      )`);
    this.addSql('alter table messages add column notification_id text');
    this.addSql(`create index messages_notification on messages (workspace_id, notification_id, created_at desc)
      where notification_id is not null`);
    // Compares bytes whatever the database's collation, so it finds addresses by how they begin as
    // well.
    this.addSql('drop index messages_contact');
    this.addSql(
      'create index messages_contact on messages (workspace_id, contact_email text_pattern_ops, created_at desc)',
    );
    // A message that failed frees its key, one that bounced does not. Both columns are in other
    // indexes already.
    this.addSql(`create unique index messages_external_once on messages (workspace_id, external_id)
      where external_id is not null and (failed_at is null or bounced_at is not null)`);
    // The requests of transactional messages, and the queue of those that are not done: `due_at` is
    // null once they are. Until then it is when to look at the message again, at the latest when
    // its lease ends.
    this.addSql(`
      create table message_requests (
        workspace_id text not null,
        message_id uuid not null,
        due_at timestamptz,
        -- JSON with data, metadata and options, sealed with a key of the workspace.
        request bytea not null,
        -- What the files are, without their content.
        attachments jsonb,
        primary key (message_id, workspace_id)
      )`);
    this.addSql(
      'create index message_requests_due on message_requests (workspace_id, due_at) where due_at is not null',
    );
    // The content of files, until a day after the message is done.
    this.addSql(`
      create table message_attachments (
        workspace_id text not null,
        message_id uuid not null,
        place integer not null,
        content bytea not null,
        erase_at timestamptz,
        primary key (message_id, place, workspace_id)
      )`);
    this.addSql('alter table message_attachments alter column content set storage external');
    this.addSql(
      'create index message_attachments_old on message_attachments (erase_at) where erase_at is not null',
    );
    // Mails as they were sent, where the workspace keeps them.
    this.addSql(`
      create table message_contents (
        workspace_id text not null,
        message_id uuid not null,
        -- A compressed mail without attachments, sealed with a key of the workspace.
        content bytea not null,
        stored_at timestamptz not null,
        primary key (message_id, workspace_id)
      )`);
    this.addSql('create index message_contents_old on message_contents (workspace_id, stored_at)');
  }
}
