import { Migration } from '@mikro-orm/migrations';

export class Suppressions extends Migration {
  override up(): void {
    this.addSql('alter table suppressions add column note text');
    // suppressions.list compares bytes, whatever the database's collation, so that it finds
    // addresses by how they begin.
    this.addSql(
      'create index suppressions_address on suppressions (workspace_id, email text_pattern_ops)',
    );
    this.addSql(
      'create index suppressions_reason on suppressions (workspace_id, reason, email text_pattern_ops)',
    );
  }
}
