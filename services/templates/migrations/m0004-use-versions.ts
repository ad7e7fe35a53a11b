import { Migration } from '@mikro-orm/migrations';

export class UseVersions extends Migration {
  override up(): void {
    // The newest push of each user. Forgotten after a day: no call is as late as that.
    this.addSql(`
      create table template_users (
        workspace_id text not null,
        kind text not null,
        user_id text not null,
        version bigint not null,
        pushed_at timestamptz not null,
        primary key (workspace_id, kind, user_id)
      )`);
    this.addSql('create index template_users_pushed on template_users (pushed_at)');
  }
}
