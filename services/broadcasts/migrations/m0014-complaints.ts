import { Migration } from '@mikro-orm/migrations';

export class Complaints extends Migration {
  override up(): void {
    // Set when complaints pause it: a person who resumes it wants the rest sent anyway.
    this.addSql(
      'alter table broadcasts add column ignore_complaints boolean not null default false',
    );
  }
}
