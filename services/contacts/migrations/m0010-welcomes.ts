import { Migration } from '@mikro-orm/migrations';

export class Welcomes extends Migration {
  override up(): void {
    // `notification_id`, `delay_seconds` and `include_imports`; null for a list without a welcome.
    this.addSql('alter table lists add column welcome jsonb');
  }
}
