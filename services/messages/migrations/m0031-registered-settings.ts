import { Migration } from '@mikro-orm/migrations';

export class RegisteredSettings extends Migration {
  override up(): void {
    // Tells whether the settings of the integration are those that its provider was set up with.
    this.addSql('alter table report_keys add column settings bytea');
  }
}
