import { Migration } from '@mikro-orm/migrations';

export class EndOfAddresses extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    // `deliveries_own_address` has what is ever asked for.
    this.addSql('drop index concurrently if exists deliveries_address');
  }
}
