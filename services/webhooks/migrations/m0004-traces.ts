import { Migration } from '@mikro-orm/migrations';

export class Traces extends Migration {
  override up(): void {
    // The W3C traceparent of what caused the event, where that is part of a sampled trace.
    // Processes from before leave it out.
    this.addSql('alter table deliveries add column traceparent text');
  }
}
