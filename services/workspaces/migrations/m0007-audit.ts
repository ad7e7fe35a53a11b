import { Migration } from '@mikro-orm/migrations';

export class Audit extends Migration {
  override up(): void {
    this.addSql('alter table workspaces add deleted_at timestamptz');
    this.addSql(`
      create table audit_entries (
        workspace_id text not null,
        id uuid not null,
        created_at timestamptz not null,
        actor_type text not null,
        actor_id text not null,
        actor_name text not null,
        action text not null,
        target_id text not null,
        client_address text not null,
        request_id text not null,
        before jsonb,
        after jsonb,
        size_bytes integer not null generated always as (
          500 + coalesce(octet_length(before::text), 0) + coalesce(octet_length(after::text), 0)
        ) stored,
        primary key (workspace_id, id)
      )`);
    // workspaces.auditLog, without filters and with either.
    this.addSql('create index audit_entries_page on audit_entries (workspace_id, created_at, id)');
    this.addSql(
      'create index audit_entries_actor on audit_entries (workspace_id, actor_id, created_at, id)',
    );
    this.addSql(
      'create index audit_entries_action on audit_entries (workspace_id, action, created_at, id)',
    );
    // For every role, also the owner of the table: entries stay as they are until their time is
    // over.
    this.addSql(`
      create function keep_audit_entry() returns trigger language plpgsql as $$
      begin
        if tg_op = 'DELETE' and not exists (
          select from workspaces
          where id = old.workspace_id and deleted_at is null
            and old.created_at >= now() - make_interval(days => coalesce((settings->>'audit_retention_days')::int, 365))
        ) then
          return old;
        end if;
        raise exception 'the audit log is append-only' using errcode = 'insufficient_privilege';
      end
      $$`);
    this.addSql(`
      create trigger keep_audit_entry before update or delete on audit_entries
        for each row execute function keep_audit_entry()`);
    this.addSql(`
      create trigger keep_audit_entries before truncate on audit_entries
        for each statement execute function keep_audit_entry()`);
    // The trace of a deleted workspace: its id, who deleted it and when. An id may be deleted
    // several times.
    this.addSql(`
      create table deletions (
        id text not null,
        deleted_at timestamptz not null,
        deleted_by uuid not null,
        erased_at timestamptz,
        services_left text[] not null,
        primary key (id, deleted_at)
      )`);
    this.addSql('create index deletions_open on deletions (id) where erased_at is null');
  }
}
