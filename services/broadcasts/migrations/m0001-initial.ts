import { Migration } from '@mikro-orm/migrations';
import { idempotencyTable } from '#lib/rpc/server/idempotency.ts';

export class Initial extends Migration {
  override up(): void {
    this.addSql(`
      create table broadcasts (
        workspace_id text not null,
        id text not null,
        name text not null,
        status text not null,
        audience jsonb not null,
        schedule jsonb not null,
        test_settings jsonb not null,
        utm_parameters jsonb not null,
        metadata jsonb,
        starts_at timestamptz,
        plan jsonb,
        frozen_at timestamptz,
        enqueued_count integer not null,
        revision integer not null,
        paused_from text,
        paused_by text,
        pause_reason text,
        retry_at timestamptz,
        outages integer not null,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        started_at timestamptz,
        completed_at timestamptz,
        cancelled_at timestamptz,
        paused_at timestamptz,
        primary key (workspace_id, id)
      )`);
    // broadcasts.list: newest first, with and without a status.
    this.addSql('create index broadcasts_newest on broadcasts (workspace_id, created_at desc, id)');
    // The watch over live rows.
    this.addSql(`
      create index broadcasts_live on broadcasts (updated_at)
      where status not in ('draft', 'sent', 'cancelled', 'failed')`);
    this.addSql(`
      create table recipients (
        workspace_id text not null,
        broadcast_id text not null,
        sequence integer not null,
        email text not null,
        primary key (workspace_id, broadcast_id, sequence)
      )`);
    this.addSql(`
      create table slices (
        workspace_id text not null,
        broadcast_id text not null,
        number integer not null,
        first integer not null,
        last integer not null,
        position integer not null,
        sent integer not null default 0,
        failed integer not null default 0,
        skipped integer not null default 0,
        deferred integer not null default 0,
        unknown integer not null default 0,
        next_due_at timestamptz,
        done_at timestamptz,
        primary key (workspace_id, broadcast_id, number)
      )`);
    this.addSql(idempotencyTable);
  }
}
