import { Migration } from '@mikro-orm/migrations';

export class Backlogs extends Migration {
  override up(): void {
    // When deliveries of it last failed since too many waited. Processes from before leave it out.
    this.addSql('alter table subscriptions add column dropped_at timestamptz');
  }
}
