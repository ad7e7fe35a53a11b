import { Migration } from '@mikro-orm/migrations';

export class ProviderIds extends Migration {
  override up(): void {
    this.addSql('alter table messages add column if not exists provider_id text');
  }
}
