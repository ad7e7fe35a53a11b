import { Migration } from '@mikro-orm/migrations';

export class EventTimes extends Migration {
  override up(): void {
    // When the event happened: `timestamp` in the body, and what an erasure goes by. Processes from
    // before leave it out.
    this.addSql('alter table deliveries add column occurred_at timestamptz');
  }
}
