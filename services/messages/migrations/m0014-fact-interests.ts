import { Migration } from '@mikro-orm/migrations';

export class FactInterests extends Migration {
  override up(): void {
    // Contacts gets more types only where it asks for them: without a row it would get them all.
    this.addSql(`insert into event_interests (consumer, workspace_id, types)
      values ('contacts', '', '{email.bounced,email.complained}') on conflict do nothing`);
  }
}
