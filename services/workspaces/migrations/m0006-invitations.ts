import { Migration } from '@mikro-orm/migrations';

export class Invitations extends Migration {
  override up(): void {
    this.addSql(`
      create table invitations (
        workspace_id text not null references workspaces on delete cascade,
        email text not null,
        id uuid not null,
        token_hash bytea not null,
        permissions jsonb not null,
        language text not null,
        created_at timestamptz not null,
        expires_at timestamptz not null,
        primary key (workspace_id, email)
      )`);
    // Whether an address may sign in.
    this.addSql('create index invitations_email on invitations (email)');
  }
}
