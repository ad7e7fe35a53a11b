import { Migration } from '@mikro-orm/migrations';
import { consumedTable } from '#lib/events/consume.ts';

export class Initial extends Migration {
  override up(): void {
    // Each row is written twice or three times; the room left lets most of that stay on its page.
    this.addSql(`
      create table messages (
        workspace_id text not null,
        id uuid not null,
        external_id text,
        contact_email text not null,
        broadcast_id text,
        list_id text,
        template_id text not null,
        template_version integer not null,
        integration_id text not null,
        channel text not null default 'email',
        status text not null,
        status_info text,
        attempts integer not null,
        unknown integer not null default 0,
        owner uuid,
        lease_until timestamptz,
        due_at timestamptz,
        sent_at timestamptz,
        delivered_at timestamptz,
        failed_at timestamptz,
        opened_at timestamptz,
        clicked_at timestamptz,
        bounced_at timestamptz,
        complained_at timestamptz,
        unsubscribed_at timestamptz,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        primary key (workspace_id, id)
      ) with (fillfactor = 80)`);
    // messages.list: newest first.
    this.addSql(
      'create index messages_newest on messages (workspace_id, created_at desc, id desc)',
    );
    // messages.broadcastStats, and messages.list of one broadcast.
    this.addSql('create index messages_broadcast on messages (workspace_id, broadcast_id)');
    // messages.list of one address.
    this.addSql('create index messages_contact on messages (workspace_id, contact_email)');
    this.addSql(`
      create table suppressions (
        workspace_id text not null,
        email text not null,
        reason text not null,
        created_at timestamptz not null,
        primary key (workspace_id, email)
      )`);
    this.addSql(`
      create table sending_rates (
        workspace_id text not null,
        integration_id text not null,
        tokens double precision not null,
        granted integer not null,
        updated_at timestamptz not null,
        primary key (workspace_id, integration_id)
      )`);
    this.addSql(consumedTable);
  }
}
