import { Migration } from '@mikro-orm/migrations';

export class Replicas extends Migration {
  override up(): void {
    // When each process that sends through the integration last drew permits, in Unix milliseconds,
    // by its owner id.
    this.addSql("alter table sending_rates add column replicas jsonb not null default '{}'");
  }
}
