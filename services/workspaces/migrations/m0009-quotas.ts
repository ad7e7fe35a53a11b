import { Migration } from '@mikro-orm/migrations';

export class Quotas extends Migration {
  override up(): void {
    this.addSql(`alter table workspaces add column quotas jsonb not null default '{}'`);
    // When the owners were last mailed that a quota is nearly used.
    this.addSql(`
      create table quota_notices (
        workspace_id text not null,
        resource text not null,
        noticed_at timestamptz not null,
        primary key (workspace_id, resource)
      )`);
  }
}
