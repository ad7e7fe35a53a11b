import { Migration } from '@mikro-orm/migrations';

export class Unrendered extends Migration {
  override up(): void {
    // How many messages of a slice could not be rendered, and why one of them could not.
    this.addSql(`
      alter table slices
        add column unrendered integer not null default 0,
        add column unrendered_reason text not null default ''`);
    this.addSql(
      `alter table broadcasts add column bears_unrendered boolean not null default false`,
    );
  }
}
