import { Migration } from '@mikro-orm/migrations';

export class Audiences extends Migration {
  override up(): void {
    // The variation that the recipient gets (null: what everybody gets), the list it is there
    // through (its place in the plan), and when its time comes (null: at once).
    this.addSql(`
      alter table recipients
        add column arm integer,
        add column list integer not null default 0,
        add column due_at timestamptz`);
    this.addSql(`
      alter table slices
        add column list integer not null default 0,
        add column due_at timestamptz`);
  }
}
