import { Migration } from '@mikro-orm/migrations';

export class WaitingDeliveries extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    // A listener takes the oldest. Deliveries of subscriptions are not in it.
    this.addSql('drop index concurrently if exists deliveries_waiting');
    this.addSql(`
      create index concurrently if not exists deliveries_waiting on deliveries (workspace_id, subscription_id, created_at, id)
      where status = 'waiting'`);
  }
}
