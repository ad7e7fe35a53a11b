import { Migration } from '@mikro-orm/migrations';

export class FreezeInSteps extends Migration {
  override up(): void {
    // The last address of the pages that are stored; null before the first page and after the last
    // one.
    this.addSql('alter table broadcasts add column freeze_after text');
    // The recipients of one page that get the same content at the same time, until all pages are
    // read and they are cut into slices. `arm` is -1 outside of the sample and `due_at` -infinity
    // for at once: a key has no nulls. `first` is the number of recipients on the pages before.
    // Processes of the previous version still use `audience_pages`.
    this.addSql(`
      create table audience_parts (
        workspace_id text not null,
        broadcast_id text not null,
        arm integer not null,
        due_at timestamptz not null,
        list integer not null,
        first integer not null,
        size integer not null,
        emails text[] not null,
        primary key (workspace_id, broadcast_id, arm, due_at, list, first)
      )`);
    this.addSql('alter table audience_parts alter column emails set storage external');
  }
}
