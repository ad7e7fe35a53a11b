import { Migration } from '@mikro-orm/migrations';
import { idempotencyTable } from '#lib/rpc/server/idempotency.ts';

export class Initial extends Migration {
  override up(): void {
    this.addSql(`
      create table users (
        id uuid primary key,
        type text not null,
        email text not null unique,
        name text not null default '',
        language text not null default 'en',
        created_at timestamptz not null,
        updated_at timestamptz not null
      )`);
    this.addSql(`
      create table sessions (
        id uuid primary key,
        user_id uuid not null references users on delete cascade,
        expires_at timestamptz not null
      )`);
    // Signing in deletes the expired ones of the user.
    this.addSql('create index sessions_user on sessions (user_id)');
    this.addSql(`
      create table workspaces (
        id text primary key,
        name text not null,
        settings jsonb not null,
        created_at timestamptz not null,
        updated_at timestamptz not null
      )`);
    this.addSql(`
      create table members (
        workspace_id text not null references workspaces on delete cascade,
        user_id uuid not null references users on delete cascade,
        role text not null,
        permissions jsonb not null,
        created_at timestamptz not null,
        primary key (workspace_id, user_id)
      )`);
    // workspaces.list: the workspaces of one user.
    this.addSql('create index members_user on members (user_id)');
    this.addSql(`
      create table integrations (
        workspace_id text not null references workspaces on delete cascade,
        id text not null,
        name text not null,
        provider jsonb not null,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        primary key (workspace_id, id)
      )`);
    this.addSql(`
      create table sign_in_attempts (
        email text not null,
        attempted_at timestamptz not null
      )`);
    this.addSql('create index sign_in_attempts_email on sign_in_attempts (email, attempted_at)');
    this.addSql(idempotencyTable);
  }
}
