import { Migration } from '@mikro-orm/migrations';

export class WarmUp extends Migration {
  override up(): void {
    // How many messages the day has taken, by the days of UTC.
    this.addSql(`
      alter table sending_rates
        add column day date not null default 'epoch', add column day_count integer not null default 0`);
  }
}
