import { Migration } from '@mikro-orm/migrations';

export class Domains extends Migration {
  override up(): void {
    this.addSql(`
      create table sending_domains (
        workspace_id text not null,
        name text not null,
        id text not null,
        ownership_token text not null,
        dkim_algorithms jsonb not null,
        return_path_host text not null,
        tracking_host text not null,
        revision int not null,
        findings jsonb not null,
        checks int not null,
        checked_at timestamptz,
        next_check_at timestamptz not null,
        failing_since timestamptz,
        gone_since timestamptz,
        gone_checks int not null,
        is_held boolean not null,
        is_noticed boolean not null,
        noticed_at timestamptz,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        primary key (workspace_id, name)
      )`);
    // The domains of a workspace that are due.
    this.addSql(
      'create index sending_domains_due on sending_domains (workspace_id, next_check_at)',
    );
    // Not by workspace first: a domain belongs to one workspace of the installation.
    this.addSql(`
      create table domain_owners (
        name text primary key,
        workspace_id text not null
      )`);
    // Erasing a workspace.
    this.addSql('create index domain_owners_workspace on domain_owners (workspace_id, name)');
    this.addSql(`
      create table dkim_keys (
        workspace_id text not null,
        host text not null,
        domain text not null,
        selector text not null,
        algorithm text not null,
        public_key text not null,
        sealed_private_key text,
        state text not null,
        since timestamptz not null,
        created_at timestamptz not null,
        primary key (workspace_id, host)
      )`);
    // The keys of a domain.
    this.addSql('create index dkim_keys_domain on dkim_keys (workspace_id, domain)');
  }
}
