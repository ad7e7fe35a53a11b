import { Migration } from '@mikro-orm/migrations';

export class SlicesHoldAddresses extends Migration {
  override up(): void {
    // The addresses of a slice, in order; null once deleted. Stored beside the row, so that a
    // change of a count writes none of them again, and as they are: packing them makes an insert
    // half as long again.
    this.addSql(`
      alter table slices
        add column size integer,
        add column emails text[],
        alter column emails set storage external`);
    // A name of its own: a process that still counts from the start of the broadcast fails rather
    // than writes that.
    this.addSql('alter table slices rename column position to answered');
    this.addSql(`
      update slices set
        size = last - first + 1,
        answered = answered - first + 1,
        emails = (
          select array_agg(email order by sequence) from recipients
          where recipients.workspace_id = slices.workspace_id
            and recipients.broadcast_id = slices.broadcast_id
            and sequence between first and last
        )`);
    this.addSql(`
      alter table slices
        alter column size set not null,
        alter column answered set default 0,
        drop column first,
        drop column last`);
    this.addSql('drop table recipients');
    // An audience that has to be sorted before it is cut. No row outlives its transaction, so none
    // needs a log.
    this.addSql(`
      create unlogged table audience_pages (
        workspace_id text not null,
        broadcast_id text not null,
        first integer not null,
        emails text[] not null,
        lists integer[] not null,
        due_at timestamptz[] not null,
        primary key (workspace_id, broadcast_id, first)
      )`);
    this.addSql('alter table audience_pages alter column emails set storage external');
  }
}
