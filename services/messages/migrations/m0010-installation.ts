import { Migration } from '@mikro-orm/migrations';

export class Installation extends Migration {
  override up(): void {
    // Tells this database from every other: a journal is replayed only into the one it was written
    // for.
    this.addSql('create table installation (id uuid primary key)');
    this.addSql('insert into installation values (gen_random_uuid())');
  }
}
