import { Migration } from '@mikro-orm/migrations';

export class Integrations extends Migration {
  override up(): void {
    // Empty for the marketing provider of the settings, as for all rows of processes without this
    // column.
    this.addSql("alter table broadcasts add column integration_id text not null default ''");
  }
}
