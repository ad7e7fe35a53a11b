import { Migration } from '@mikro-orm/migrations';

export class SampleNumbers extends Migration {
  override up(): void {
    this.addSql('alter table broadcasts add column sample_numbers jsonb');
  }
}
