import { Migration } from '@mikro-orm/migrations';

export class Tags extends Migration {
  override up(): void {
    // Null for none, as for all rows of processes without this column.
    this.addSql('alter table broadcasts add column tags jsonb');
  }
}
