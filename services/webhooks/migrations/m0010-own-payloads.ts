import { Migration } from '@mikro-orm/migrations';

const address = `coalesce(payload->>'email', payload->'contact'->>'email', payload->'custom_event'->>'email')`;

export class OwnPayloads extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    // Deliveries of events have no payload of their own, and no entry. A query for an address, also
    // of a process from before, implies the condition as it is written.
    this.addSql('drop index concurrently if exists deliveries_own_address');
    this.addSql(`
      create index concurrently if not exists deliveries_own_address on deliveries (workspace_id, (${address}), id)
      where ${address} is not null`);
  }
}
