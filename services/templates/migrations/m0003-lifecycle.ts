import { Migration } from '@mikro-orm/migrations';

export class Lifecycle extends Migration {
  override up(): void {
    // By default true, since processes of before this migration only make first versions.
    this.addSql(`
      alter table templates
        add column is_newest boolean not null default true,
        add column template_macro_version integer not null default 0,
        add column size_bytes integer not null generated always as (
          coalesce(octet_length(email::text), 0) + coalesce(octet_length(web::text), 0)
          + coalesce(octet_length(test_data::text), 0) + coalesce(octet_length(settings::text), 0)
          + octet_length(translations::text)
        ) stored`);
    this.addSql(`
      update templates set is_newest = false
      where deleted_at is not null or exists (
        select from templates later
        where (later.workspace_id, later.id) = (templates.workspace_id, templates.id)
          and later.version > templates.version
      )`);
    this.addSql(
      'create unique index templates_one_newest on templates (workspace_id, id) where is_newest',
    );
    this.addSql(`create index templates_by_change on templates (workspace_id, updated_at desc, id desc)
      where is_newest`);
    this.addSql(`create index templates_with_layout on templates (workspace_id, template_macro_id)
      where is_newest and template_macro_version > 0`);
    this.addSql(`
      create table template_uses (
        workspace_id text not null,
        kind text not null,
        user_id text not null,
        template_id text not null,
        name text not null,
        primary key (workspace_id, kind, user_id, template_id)
      )`);
    this.addSql('create index template_uses_of on template_uses (workspace_id, template_id)');
    this.addSql(`
      create table template_blocks (
        workspace_id text not null,
        id uuid not null,
        name text not null,
        block jsonb not null,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        size_bytes integer not null generated always as (octet_length(block::text)) stored,
        primary key (workspace_id, id)
      )`);
    this.addSql('create index template_blocks_by_name on template_blocks (workspace_id, name, id)');
  }
}
