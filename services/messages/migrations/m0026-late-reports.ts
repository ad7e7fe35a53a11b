import { Migration } from '@mikro-orm/migrations';

export class LateReports extends Migration {
  override up(): void {
    // When an address was last taken off the suppression list. Reports of before do not put it on.
    this.addSql(`
      create table lifted_suppressions (
        workspace_id text not null,
        email text not null,
        lifted_at timestamptz not null,
        primary key (workspace_id, email)
      )`);
    this.addSql(
      'create index lifted_suppressions_old on lifted_suppressions (workspace_id, lifted_at)',
    );
    // When the message was last queued again. Bounces of before are of an earlier attempt.
    this.addSql('alter table messages add column retried_at timestamptz');
  }
}
