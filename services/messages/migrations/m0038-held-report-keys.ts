import { Migration } from '@mikro-orm/migrations';

export class HeldReportKeys extends Migration {
  override up(): void {
    // The key that the provider had when it was last set up.
    this.addSql('alter table report_keys add column held_digest bytea');
  }
}
